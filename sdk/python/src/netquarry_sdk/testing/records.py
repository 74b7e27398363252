"""Records in which only what a test is about has to be named."""

from collections.abc import Sequence
from typing import Any

from ..discovery import Ancestor, BaseClass, Category, ClassDescription, Method
from ..emit import Block, Provenance


def class_description(
    name: str = "Block",
    *,
    module: str = "package.module",
    bases: Sequence[str] = ("torch.nn.Module",),
    methods: Sequence[str | Method] = ("forward",),
    **fields: Any,
) -> ClassDescription:
    """A class with these bases, by their dotted paths, which are its external ancestors too; `fields` are the
    others.
    """
    described: dict[str, Any] = {
        "path": f"{module}.{name}",
        "source": "test",
        "file": f"{module.replace('.', '/')}.py",
        "bases": tuple(BaseClass(base.rpartition(".")[2], base) for base in bases),
        "ancestors": tuple(Ancestor(base, external=True) for base in bases),
    }
    defined = tuple(Method(method) if isinstance(method, str) else method for method in methods)
    return ClassDescription(name=name, module=module, methods=defined, **(described | fields))


def block(name: str = "Block", *, module: str = "package.module", **fields: Any) -> Block:
    """A block about which nothing more is known than its name; `fields` are the others of `Block`."""
    provenance = Provenance(
        source="test",
        kind="local",
        version=None,
        commit=None,
        file=f"{module.replace('.', '/')}.py",
        first_line=1,
        last_line=1,
        sha1="0" * 40,
        swhid=f"swh:1:cnt:{'0' * 40}",
    )
    described: dict[str, Any] = {
        "id": f"test:{module}.{name}",
        "category": Category.UTILITY,
        "provenance": provenance,
    }
    return Block(name=name, **(described | fields))
