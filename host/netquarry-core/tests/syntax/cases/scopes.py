# Which names are local, and where.
x = y = z = 1


def function(a, b=x, *c, d, **e):
    f: int
    g, (h, *i) = 1, (2, 3)
    for j in x:
        with y as k:
            import l.m, n as o
    try:
        pass
    except E as p:
        del q
    r = [s for s in x if (t := s)]
    lambda u, v=w: u + v + r
    match x:
        case {"k": aa, **bb} | [aa, *bb]:
            pass
        case C(cc=dd) as ee:
            pass

    def nested():
        nonlocal r
        global z
        r = z = ff = x
        return a, g, ff

    class Local:
        a = a
        b = r

        def method(self):
            return __class__, a, b, Local, [self.x for self.x in self]

    return nested


class Mangled:
    __x = 1

    def method(self, __y, __z__):
        import __a, __b.c
        global __d
        __d = __e = self.__f
        return [__y for __g in __x], __a, __e, __d, Mangled__not


class _Leading:
    __x = 1

    class ___:
        __y = __x


[x for x in x]
{y: z for y in x for z in y}
(lambda x: (yield x))
