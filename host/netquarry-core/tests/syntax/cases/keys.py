register("name")
register(["first", "second"], name=("third", "has a space"), module=Foo)
configuration = {"type": "BN", "sizes": [1], 3: "number", "nested": dict(type="A" if Foo else "B")}
TABLE["key"] = Foo
configuration["type"] = "GN"


@register(name="Foo")
def function(options={"type": "LN"}):
    options.setdefault("type", "IN")
    options["kind"] = f"formatted"
    return "returned"


define("scale(Tensor x, float s) -> Tensor", note="a (note) without an arrow")
define("scale.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
define("library::scale", "(Tensor x) -> Tensor")
NAMESPACE = "library"
NAME: str = NAMESPACE + "::scale"
SIGNATURE = "(Tensor x) -> Tensor"
define(NAMESPACE, f"{NAMESPACE}::scale", NAME, "scale" + SIGNATURE, f"{NAMESPACE!r}::scale", unknown + "::scale")
if Foo:
    NAMESPACE = "other"
define(NAMESPACE, NAME)


def function(NAME):
    define(NAME)


class Local:
    NAME = "local"
    define(NAME)
    define("literal")


for SIGNATURE in ():
    define("scale" + SIGNATURE)
NAME = "again"
from star import *
define(NAME)
