"""`check` and `build`: what authors are told, and what the templates give."""

import pytest

from netquarry_sdk import Kind
from netquarry_sdk.authoring.sections import custom_sections
from support import NAMES, new_plugin, run_python

PACKAGE = "shim_acme/__init__.py"


@pytest.mark.parametrize("kind", Kind)
def test_a_template_passes_its_tests_at_once(kind, tmp_path):
    new_plugin(kind, tmp_path)
    tests = run_python("pytest", "-q", "-p", "no:cacheprovider", folder=tmp_path)
    assert tests.returncode == 0, tests.stdout
    checked = run_python("netquarry_sdk", "check", folder=tmp_path)
    assert checked.stderr == f"{NAMES[kind]} 0.1.0 ({kind.value}, 1 example) can be built\n"


def changed(folder, file, old, new):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (
            "pyproject.toml",
            '[tool.netquarry]\nplugin = "shim_acme:ShimAcme"',
            "",
            "does not say where the plugin is.",
        ),
        ("pyproject.toml", "shim_acme:ShimAcme", "shim_acme", "names no class."),
        (
            "pyproject.toml",
            "shim_acme:ShimAcme",
            "shim_acme:Shim",
            "no class `Shim` in `shim_acme`. There is `RepoShim`, `ShimAcme`.",
        ),
        ("pyproject.toml", "shim_acme:ShimAcme", "other:ShimAcme", "There is no module `other` in"),
        (
            "pyproject.toml",
            "0.1.0",
            "0.2.0",
            "The version of `ShimAcme` is `0.1.0`, and that of its project `0.2.0`.",
        ),
        (PACKAGE, "def tables(", "def rules(", "has no `tables`."),
        (PACKAGE, "(RepoShim)", "", "is no plugin."),
        (PACKAGE, "from netquarry_sdk", "import nowhere\nfrom netquarry_sdk", "cannot be imported"),
        (PACKAGE, "examples/*.json", "cases/*.json", "No file of the project fits `cases/*.json`"),
        ("examples/model.json", '"input"', '"inputs"', "is no case."),
        ("examples/model.json", '"configuration": {}', '"configuration": {"x": 1}', "there is no option `x`"),
    ],
)
def test_what_is_wrong_is_one_sentence(file, old, new, told, tmp_path):
    new_plugin(Kind.REPO_SHIM, tmp_path)
    changed(tmp_path, file, old, new)
    checked = run_python("netquarry_sdk", "check", folder=tmp_path)
    assert checked.returncode == 2
    assert checked.stderr.startswith("error: ")
    assert told in checked.stderr
    assert "\n  help: " in checked.stderr


def test_an_empty_folder_is_no_plugin(tmp_path):
    checked = run_python("netquarry_sdk", "check", str(tmp_path / "none"), folder=tmp_path)
    assert checked.returncode == 2
    assert "There is no " in checked.stderr


def test_a_compiled_module_cannot_come_along(tmp_path):
    pytest.importorskip("componentize_py")
    new_plugin(Kind.REPO_SHIM, tmp_path)
    changed(tmp_path, PACKAGE, "from netquarry_sdk", "import componentize_py\nfrom netquarry_sdk")
    built = run_python("netquarry_sdk", "build", folder=tmp_path)
    assert built.returncode == 2
    assert "which is compiled for this machine" in built.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind)
def test_a_template_builds(kind, tmp_path):
    pytest.importorskip("componentize_py")
    new_plugin(kind, tmp_path)
    built = run_python("netquarry_sdk", "build", folder=tmp_path)
    assert built.returncode == 0, built.stderr
    component = tmp_path / "target" / f"{NAMES[kind]}.wasm"
    (stamp,) = [
        each for each in custom_sections(component.read_bytes()) if each.name == "netquarry-plugin-api"
    ]
    assert stamp.content == b"0.1.0"
    component_model = pytest.importorskip("wasmtime.component")
    import wasmtime

    engine = wasmtime.Engine()
    loaded = component_model.Component.from_file(engine, str(component))
    # The resource that a world uses stands beside the interface that has it.
    imported = loaded.type.imports(engine).keys() - {"code-index", "block-set"}
    assert imported
    assert all(name.startswith("netquarry:plugin/") for name in imported), imported


@pytest.mark.slow
def test_a_module_that_does_not_load_in_a_component_is_told(tmp_path):
    pytest.importorskip("componentize_py")
    new_plugin(Kind.REPO_SHIM, tmp_path)
    broken = "import sys\nif sys.platform == 'wasi':\n    raise ValueError('not here')\nfrom netquarry_sdk"
    changed(tmp_path, PACKAGE, "from netquarry_sdk", broken)
    built = run_python("netquarry_sdk", "build", folder=tmp_path)
    assert built.returncode == 2
    assert "does not load inside of a component" in built.stderr
    assert "ValueError: not here" in built.stderr
