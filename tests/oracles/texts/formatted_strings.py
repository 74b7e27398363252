a = f"{'''eric's'''} {b!r:>{c}} {d=} {e = !r:{g}}" "abc" 'd' f'{h["i"]}'
j = f"{k:{l}.{m}} {{no}} \N{BULLET} \{n}"
o = rf"\{p}" f"{ q }" f'''{
    r  }
{"s" + t['u']}'''
v = f"{lambda_(w := 1)} {[x for x in y]} {z if aa else bb!s} {cc, dd}" f"{ee,}" f"{'''ff'''}"
hh = (f"{ii}"  # a comment
      f"{jj}"
      "kk")
