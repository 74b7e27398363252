# What statements change.
Foo.bar = 1
Foo.weight.data = 2
Foo.table["x"].y = 3
Foo.count += 1
TABLE["x"] = TABLE["y"] = 4
TABLE["x"]["y"].z.append(5)
NAMES.append(6)
NAMES.items.extend([7])
Foo.method(8).chained(9)
registry.get("x").value = 10
make().value = 11
call(Foo)
del Foo.bar, TABLE["x"], NAMES
setattr(Foo, "bar", 12)
setattr(Foo.inner, name, 13)
delattr(Foo, "bar")
fx.wrap("helper")
fx.wrap("unknown_helper")
(Foo.a, TABLE[0]), b = 14, 15
for Foo.index in range(3):
    Foo.seen = True
[local.append(1) for local in NAMES]
result = NAMES.append(16)


def helper():
    Foo.bar = "lazy"
    NAMES.append("lazy")


@Foo.register
@registry.register("key")
@plain
def registered(x):
    pass


class Class:
    Foo.from_body = 1
    own = []
    own.append(2)

    @Foo.register
    def method(self):
        pass

    @own.setter
    def method(self):
        pass


# What functions change when they are called.
def register(name=None):
    local, COUNT = [], 0
    local.append(1)
    COUNT += 1

    def decorate(cls):
        global LAST
        LAST = cls
        TABLE[name or cls.__name__] = cls
        TABLE.setdefault(name, []).append(cls)
        (lambda: NAMES.append(name))()
        kinds = KINDS.setdefault(name, {})
        kinds[cls] = TABLE.pop(name)
        setattr(Foo, "last", cls)
        return cls

    @functools.wraps(decorate)
    def other():
        del TABLE[name], Foo.last

    return decorate


def generic[T](item: T):
    NAMES.append(item)


if True:
    def conditional():
        Foo.bar += 1


class Methods:
    def change(self):
        NAMES.append(self)


change = lambda: NAMES.append(1)
