"""What several tests need: the contract, the bindings of a world, plugins from the templates."""

import importlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import pytest

from netquarry_sdk import Kind
from netquarry_sdk.wire import Bindings

SDK = Path(__file__).parents[1]
WIT = SDK.parents[1] / "wit"
NAMES = {
    Kind.DISCOVERY_RULE: "discover-acme",
    Kind.REPO_SHIM: "shim-acme",
    Kind.DEDUP_STRATEGY: "dedup-acme",
    Kind.SPEC_EMITTER: "emit-acme",
}
INTERFACES = {
    Kind.DISCOVERY_RULE: ("types", "classes"),
    Kind.REPO_SHIM: ("types", "rules", "index"),
    Kind.DEDUP_STRATEGY: ("types", "blocks"),
    Kind.SPEC_EMITTER: ("types", "classes", "records"),
}
_generated = TemporaryDirectory()


@cache
def interfaces(kind: Kind) -> list[ModuleType]:
    """The modules that componentize-py generates for the interfaces of a world."""
    componentize_py = pytest.importorskip("componentize_py")
    world = f"world_{kind.name.lower()}"
    folder = Path(_generated.name) / world
    componentize_py.generate_bindings(
        wit_path=[str(WIT)],
        worlds=[kind.value],
        features=[],
        all_features=False,
        world_module=world,
        output_dir=str(folder),
        import_interface_names=[],
        export_interface_names=[],
        full_names=False,
    )
    sys.path.append(str(folder))
    return [importlib.import_module(f"{world}.imports.{name}") for name in INTERFACES[kind]]


def bindings(kind: Kind) -> Bindings:
    modules = interfaces(kind)
    return Bindings.of(importlib.import_module("componentize_py_types").Err, *modules)


def new_plugin(kind: Kind, folder: Path) -> Path:
    """Writes the files that `netquarry plugin new` writes, but for the SDK."""
    name = NAMES[kind]
    class_name = "".join(word.capitalize() for word in name.split("-"))
    names = {"{{name}}": name, "{{package}}": name.replace("-", "_"), "{{class}}": class_name}

    def filled(text: str) -> str:
        for placeholder, value in names.items():
            text = text.replace(placeholder, value)
        return text

    for part in ("common", kind.value):
        root = SDK / "template" / part
        for file in (file for file in root.rglob("*") if file.is_file()):
            target = folder / filled(str(file.relative_to(root)).removesuffix(".template"))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(file.read_text()))
    return folder


def run_python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a module of this Python with this SDK, in a folder."""
    environment = os.environ | {"PYTHONPATH": str(SDK / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
