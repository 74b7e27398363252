# When and how globals are used.
eager = call(argument, keyword=value, *star, **double)
chain = module.attribute.deeper(module.other)[index](called_item)
chosen = (first or second)(third)
conditional = (yes if test else no)(x)
awaited = [await_ for await_ in iterable if condition(await_)]
nested = {key: item for outer_ in rows for key, item in outer_.items()}
text = f"{name!r:>{width}} {call_in_string(inner)} {debug=}"
lam = lambda a, b=default: a + b + free(a)
sliced = array[lower:upper:step, ...]
total = -left @ right + (walrus := computed)


@decorator
@factory(option, "text")
@module.register("key")
class Derived(Base, module.Other[Parameter], make_base(seed), metaclass=Meta, option=flag):
    depth = depth
    width = make(depth)
    inner = [width for _ in range(depth)]
    __private = helper

    class Nested(Derived):
        value = outermost

    @property
    @cached(size=limit)
    def method(self, x: Annotated = default_value, *args: Star, **kwargs: Double) -> Returned:
        local: NeverEvaluated = assigned
        self.attribute: NeverEvaluatedEither = __mangled

        def inner_function(y: LazyAnnotation = lazy_default):
            return y, x, free_in_inner

        return super().method(lambda: x), Derived, inner_function

    async def stream(self):
        async for item in source():
            async with context() as manager:
                yield await manager.read(item)


def writes():
    global counter, state
    counter += 1
    state = [counter for counter in range(3)]
    config.FLAG = True
    config.table["key"] = 1
    del config.FLAG
    for config.index in range(3):
        pass
    globals()["dynamic"] = globals()["loaded"]


def late(__dunder, __mangled_not):
    import numpy as np
    from package import thing, other as renamed
    import one.two

    def inside():
        return np.zeros(thing), one.two.three, renamed

    try:
        import fast
    except ImportError:
        fast = None
    return inside, fast
