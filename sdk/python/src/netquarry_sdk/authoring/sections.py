"""The sections of a component, as far as they concern an author."""

from collections.abc import Iterator
from typing import NamedTuple

from ..contract import API_VERSION

SECTION = "netquarry-plugin-api"
"""The custom section by which the host knows the version of the contract; at the top level, it holds the
version."""

_PREAMBLE = b"\0asm\x0d\0\x01\0"
"""Version 13, layer 1: a component."""

_CUSTOM = 0


class CustomSection(NamedTuple):
    name: str
    content: bytes


def stamped(component: bytes) -> bytes:
    """The component with the version of the contract. Raises `ValueError` where the bytes are no
    component.
    """
    if not component.startswith(_PREAMBLE):
        raise ValueError("it is no WebAssembly component")
    name = SECTION.encode()
    payload = _leb128(len(name)) + name + API_VERSION.encode()
    return component + bytes([_CUSTOM]) + _leb128(len(payload)) + payload


def custom_sections(component: bytes) -> Iterator[CustomSection]:
    """Those at the top level, in their order."""
    place = len(_PREAMBLE)
    while place < len(component):
        number = component[place]
        length, start = _read_leb128(component, place + 1)
        place = start + length
        if number == _CUSTOM:
            name_length, name_start = _read_leb128(component, start)
            name_end = name_start + name_length
            yield CustomSection(component[name_start:name_end].decode(), component[name_end:place])


def _leb128(value: int) -> bytes:
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def _read_leb128(binary: bytes, place: int) -> tuple[int, int]:
    """The number, and where what follows it begins."""
    value, shift = 0, 0
    while True:
        digit = binary[place]
        value |= (digit & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if digit < 0x80:
            return value, place
