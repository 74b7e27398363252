from netquarry_sdk import API_VERSION
from netquarry_sdk.authoring.sections import SECTION, custom_sections, stamped
from support import SDK, WIT

EMPTY = b"\0asm\x0d\0\x01\0"


def test_the_package_has_the_contract_as_it_is():
    packaged = SDK / "src/netquarry_sdk/wit"
    here = {path.name: path.read_text() for path in packaged.iterdir()}
    assert here == {path.name: path.read_text() for path in WIT.iterdir()}, "copy wit/*.wit into the package"


def test_the_version_is_that_of_the_wit_package():
    assert f"package netquarry:plugin@{API_VERSION};" in (WIT / "base.wit").read_text()


def test_a_stamp_is_the_last_section():
    assert stamped(EMPTY) == EMPTY + b"\0\x1a\x14netquarry-plugin-api0.1.0"
    long = EMPTY + b"\0\xac\x02\x04name" + bytes(295)
    assert [section.name for section in custom_sections(stamped(long))] == ["name", SECTION]


def test_sections_that_are_not_custom_are_passed_over():
    assert [*custom_sections(EMPTY + b"\x07\x02\x01\x01")] == []
