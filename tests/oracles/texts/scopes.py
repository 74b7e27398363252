class A:
    x = x
    y: y = y
    __p = __q

    def f(self, x=x, __r=__p):
        nonlocal_ = [__s for __s in self.__t if (u := __s)]

        def g():
            nonlocal u
            global v, __w
            u = v = __w = super().f
            del v

            class B(A):
                u = u
                __class__ = u

                def h(self):
                    return __class__, u, __w

            return B

        return lambda *__a, b=g, **c: (yield b, __a)

    [x for x in [x for x in x]]
    for i in i:
        j = i

    class __D:
        __e = __p


def k(l, /, m=lambda l: l, *, n):
    try:
        import o.p, q as r
    except* (s, t) as w:
        del w
    with a as (b, [c, *d]), e as f.g, h as i[j]:
        pass
    async def x():
        return [await y async for y in z if await y], (y async for y in x)
    while (u := v):
        w: int
        (aa): int = 1
        bb.cc: dd = 1
    return [[ee for ff in gg] for ee in hh(lambda: ee)], {ii: jj for ii, jj in ll}


ﬁ = K = 1
ﬁ, fi, K
