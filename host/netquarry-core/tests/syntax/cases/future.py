"""Annotations of a file that postpones them."""
from __future__ import annotations, division

variable: Foo = 1


def function(a: Foo, b: [x for x in Bar], c: (lambda y: y + Baz)) -> "Quoted":
    local: Foo = a

    def nested(d: local, e: Foo): ...


class Class:
    attribute: Foo
    def method(self, attribute: attribute) -> Class: ...
