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
