import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal

import pytest

from netquarry_sdk import AnnotationError, ConfigurationError, Range, configured
from netquarry_sdk.discovery import DiscoveryRule
from netquarry_sdk.testing import refused_configuration


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Inner:
    """What is inside."""

    depth: int = 1


class Every(DiscoveryRule):
    """A test."""

    @dataclass
    class Configuration:
        flag: bool = False
        count: int = 3
        ratio: Annotated[float, "A share.", Range(0, 1)] = 0.5
        text: str = field(default="x", metadata={"description": "A text."})
        mode: Literal["a", "b"] = "a"
        colour: Colour = Colour.RED
        many: list[int] = field(default_factory=list)
        fixed: tuple[str, ...] = ()
        table: dict[str, float] = field(default_factory=dict)
        inner: Inner = field(default_factory=Inner)
        maybe: str | None = None

    configuration: Configuration

    def discover(self, classes):
        return []


class Strict(DiscoveryRule):
    """The configuration of the Rust SDK's test."""

    @dataclass
    class Configuration:
        thresholds: list[float] = field(default_factory=list)
        slashed: Annotated[int, Range(0, 255)] | None = field(default=None, metadata={"name": "a/b"})

    def __init__(self, configuration):
        for index, threshold in enumerate(configuration.thresholds):
            if not 0 <= threshold <= 1:
                raise ConfigurationError(f"/thresholds/{index}", "a threshold is between 0 and 1")
        super().__init__(configuration)

    def discover(self, classes):
        return []


def test_the_schema_has_every_form():
    schema = json.loads(Every.configuration_schema())
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "flag": {"type": "boolean", "default": False},
            "count": {"type": "integer", "default": 3},
            "ratio": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "A share.",
                "default": 0.5,
            },
            "text": {"type": "string", "description": "A text.", "default": "x"},
            "mode": {"enum": ["a", "b"], "default": "a"},
            "colour": {"enum": ["red", "blue"], "default": "red"},
            "many": {"type": "array", "items": {"type": "integer"}, "default": []},
            "fixed": {"type": "array", "items": {"type": "string"}, "default": []},
            "table": {"type": "object", "additionalProperties": {"type": "number"}, "default": {}},
            "inner": {"$ref": "#/$defs/Inner", "default": {"depth": 1}},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        },
        "$defs": {
            "Inner": {
                "description": "What is inside.",
                "type": "object",
                "properties": {"depth": {"type": "integer", "default": 1}},
                "additionalProperties": False,
            }
        },
    }


def test_every_form_is_read():
    given = {
        "flag": True,
        "count": 4,
        "ratio": 1,
        "text": "y",
        "mode": "b",
        "colour": "blue",
        "many": [1, 2],
        "fixed": ["z"],
        "table": {"k": 2},
        "inner": {"depth": 9},
        "maybe": "m",
    }
    expected = Every.Configuration(
        True, 4, 1.0, "y", "b", Colour.BLUE, [1, 2], ("z",), {"k": 2.0}, Inner(9), "m"
    )
    assert configured(Every, given).configuration == expected


def test_an_empty_configuration_means_the_defaults():
    assert configured(Every).configuration == Every.Configuration()
    assert configured(Strict, "{}")


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        # As the Rust SDK has it, in `sdk/rust/src/plugin.rs`.
        ('{"thresholds": [0.5, "high"]}', "/thresholds/1"),
        ('{"thresholds": [0.5, 7]}', "/thresholds/1"),
        ('{"a/b": -1}', "/a~1b"),
        ('{"treshold": 1}', "/treshold"),
        ("{} {}", ""),
        ("[", ""),
        # Beyond it.
        ("[]", ""),
        ('{"thresholds": [NaN]}', ""),
        ('{"a/b": 1.0}', "/a~1b"),
        ('{"a/b": true}', "/a~1b"),
        ('{"a~b": 1}', "/a~0b"),
        ('{"thresholds": {}}', "/thresholds"),
    ],
)
def test_errors_point_into_the_configuration(document, pointer):
    assert refused_configuration(Strict, document).pointer == pointer


@pytest.mark.parametrize(
    ("given", "pointer", "message"),
    [
        ({"flag": 1}, "/flag", "true or false is expected, and this is the number 1"),
        ({"count": "3"}, "/count", "an integer is expected, and this is the string `3`"),
        ({"ratio": 1.5}, "/ratio", "1.5 is out of bounds, which are 0 to 1"),
        ({"mode": "c"}, "/mode", "one of `a`, `b` is expected, and this is the string `c`"),
        ({"inner": {"depth": None}}, "/inner/depth", "an integer is expected, and this is null"),
        ({"inner": {"x": 1}}, "/inner/x", "there is no option `x`; the options are: `depth`"),
        ({"table": {"a/b": "x"}}, "/table/a~1b", "a number is expected, and this is the string `x`"),
    ],
)
def test_messages_say_what_would_be_right(given, pointer, message):
    error = refused_configuration(Every, given)
    assert (error.pointer, error.message) == (pointer, message)


def test_annotations_without_a_json_form_are_told():
    @dataclass
    class Configuration:
        many: set[int] = field(default_factory=set)

    plugin = type("Odd", (Every,), {"Configuration": Configuration})
    with pytest.raises(AnnotationError, match=r"Configuration\.many` is annotated with `set\[int\]`"):
        plugin.configuration_schema()


def test_every_option_has_a_default():
    @dataclass
    class Configuration:
        count: int

    with pytest.raises(AnnotationError, match="has no default"):
        type("Odd", (Every,), {"Configuration": Configuration}).configuration_schema()
