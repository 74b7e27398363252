# Names in annotations, in strings too.
quoted: "Foo[Bar, 'Inner']" = 1
partly: Optional["Foo"] = 2
literal: Literal["not_a_name"] = 3
with_metadata: Annotated["Foo", "not a name", call("no")] = 4
escaped: "Fo\x6f" = 5
joined: "Foo" "Bar" = 6
raw: r"Foo" = 7
multiline: """
    Foo[
        Bar
    ]
""" = 8
invalid: "not a type at all" = 9
casted = cast("Foo", value)
T = TypeVar("T", "Foo", Bar, bound="Baz")
N = NewType("N", "Foo")
plain = call("Foo")


def function(a: "Foo", *b: Bar, c: "list[function]" = 1, **d: "module.Attribute") -> "Class":
    local: "Local" = 1
    Local = local

    def nested(e: Bar, f: "Foo") -> "Local":
        pass


class Class:
    attribute: "Class"
    other: attribute
    __private: "__Private"

    def method(self: "Class", attribute: attribute) -> attribute:
        self.x: "Unused" = 1


Alias = Union["Foo", Dict[str, "Bar"]]


class Config(List["Config"]):
    Class: "Class"
    sum = sum
    Bar: Bar = Bar

    def open(self, opener=open): ...

    for range in range(3):
        opened = open
