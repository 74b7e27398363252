"""From a plugin to its component, through componentize-py."""

import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from ..contract import Kind
from . import modules, sections
from .check import Checked, check
from .glue import MODULE, glue
from .problem import Problem
from .project import Project

COMPONENTIZE = "componentize-py==0.25.1"


def build(project: Project, output: Path) -> Checked:
    """Checks the plugin, builds its component and writes it to `output`. Raises `Problem`."""
    before = set(sys.modules)
    checked = check(project)
    loaded = set(sys.modules) - before
    modules.check_pure(loaded)
    componentize = _componentize()
    with tempfile.TemporaryDirectory(prefix="netquarry-") as temporary:
        staged = Path(temporary) / "modules"
        staged.mkdir()
        for top in modules.foreign(loaded | {project.module, "netquarry_sdk"}):
            modules.copy(top, staged)
        (staged / f"{MODULE}.py").write_text(glue(checked), encoding="utf-8")
        component = _component(componentize, checked.plugin.kind, staged, Path(temporary) / "component.wasm")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(sections.stamped(component))
    except OSError as error:
        raise Problem(
            f"`{output}` cannot be written: {error}.", "Name another place with --output."
        ) from None
    return checked


def _componentize() -> Any:
    try:
        import componentize_py
    except ImportError:
        raise Problem(
            "componentize-py is not installed, which makes components of Python.",
            f"Install it beside the SDK: `pip install {COMPONENTIZE}`.",
        ) from None
    return componentize_py


def _component(componentize: Any, kind: Kind, staged: Path, output: Path) -> bytes:
    wit = resources.files("netquarry_sdk").joinpath("wit")
    with resources.as_file(wit) as folder:
        try:
            # Not through the command, which would add all packages of this Python to the path.
            componentize.componentize(
                wit_path=[str(folder)],
                worlds=[kind.value],
                features=[],
                all_features=False,
                world_module=None,
                python_path=[str(staged)],
                module_worlds=[],
                app_name=MODULE,
                output_path=str(output),
                stub_wasi=True,
                import_interface_names=[],
                export_interface_names=[],
                full_names=False,
                intersect_world=None,
            )
        except AssertionError as error:
            raise Problem(
                f"The plugin does not load inside of a component:\n{error}",
                "While it is built, its modules are executed once, by CPython 3.14 for WebAssembly: "
                "without network, threads and processes.",
            ) from None
    return output.read_bytes()
