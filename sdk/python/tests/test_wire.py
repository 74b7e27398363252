import dataclasses
import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Union, get_args, get_origin, get_type_hints

import pytest

from netquarry_sdk import Kind, dedup, discovery, emit, shim
from netquarry_sdk.dedup import Decisions, Removal
from netquarry_sdk.shim import Rule, Tables
from netquarry_sdk.testing import assert_fits
from netquarry_sdk.wire import MisfitError, incoming, outgoing
from support import bindings, interfaces

MODULES = {
    Kind.DISCOVERY_RULE: (discovery,),
    Kind.REPO_SHIM: (shim,),
    Kind.DEDUP_STRATEGY: (dedup,),
    Kind.SPEC_EMITTER: (discovery, emit),
}
# The first is a case of a variant in the contract, which has a text only; the others are what a plugin says
# of itself.
NO_RECORDS = {"Unknown", "Description", "Example", "ConfigurationError", "Permission"}


def records(kind):
    """The records of this package, by name."""
    found = {}
    for module in MODULES[kind]:
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == module.__name__
            if is_own and dataclasses.is_dataclass(value) and name not in NO_RECORDS:
                found[name] = value
    return found


def sample(hint):
    """A value of a type, in which no two fields of one type are the same by accident of emptiness."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return int(arguments[1].maximum)
    if origin is Sequence:
        return (sample(arguments[0]),)
    if origin is Mapping:
        return {"key": sample(arguments[1])}
    if origin is tuple:
        return tuple(sample(argument) for argument in arguments)
    if origin in (Union, types.UnionType):
        return sample(arguments[0])
    if issubclass(hint, Enum):
        return list(hint)[-1]
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint, include_extras=True)
        return hint(**{field.name: sample(hints[field.name]) for field in dataclasses.fields(hint)})
    return {str: "text", bool: True, float: 0.25, bytes: b"\0bytes"}[hint]


CASES = [(kind, name) for kind in Kind for name in records(kind)]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_record_comes_back_as_it_went(kind, name):
    record = records(kind)[name]
    value = sample(record)
    sent = outgoing(record, bindings(kind))(value)
    assert type(sent) is bindings(kind).classes[name]
    assert incoming(record)(sent) == value


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_record_has_the_fields_of_the_contract(kind, name):
    ours = {field.name for field in dataclasses.fields(records(kind)[name])}
    assert ours == {field.name for field in dataclasses.fields(bindings(kind).classes[name])}


@pytest.mark.parametrize("kind", Kind)
def test_no_record_or_enum_of_the_contract_is_missing(kind):
    ours = {name for module in MODULES[kind] for name in vars(module)}
    theirs = set()
    for interface in interfaces(kind):
        for name, value in vars(interface).items():
            if getattr(value, "__module__", None) == interface.__name__ and "_" not in name:
                theirs.add(name)
    assert theirs - ours - NO_RECORDS - {"Kind"} <= {"CodeIndex", "BlockSet"}


@pytest.mark.parametrize("kind", Kind)
def test_enums_have_the_members_of_the_contract(kind):
    for module in MODULES[kind]:
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Enum) and name in bindings(kind).classes:
                assert set(value.__members__) == set(bindings(kind).classes[name].__members__)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Tables(packages="acme"), "packages: a list is expected, and this is 'acme'"),
        (Tables(dropped_calls=["x"]), "dropped_calls[0]: `Rule` is expected, and this is 'x'"),
        (
            Tables(dropped_calls=[Rule("a", "b"), Rule("a", None)]),
            "dropped_calls[1].why: `str` is expected, and this is None",
        ),
        (
            Decisions([Removal(-1, 0, "x")]),
            "removals[0].block: an integer from 0 to 4294967295 is expected, and this is -1",
        ),
        (
            Decisions([Removal(1, True, "x")]),
            "removals[0].survivor: an integer from 0 to 4294967295 is expected, and this is True",
        ),
        (
            shim.BlockArguments("a", {"x": 1}),
            "constructor_arguments['x']: `str` is expected, and this is 1",
        ),
    ],
)
def test_what_the_contract_does_not_take_is_pointed_at(record, message):
    with pytest.raises(MisfitError) as caught:
        assert_fits(record)
    assert str(caught.value) == message
