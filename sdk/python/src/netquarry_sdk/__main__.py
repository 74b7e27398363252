"""`python -m netquarry_sdk build [DIR]` and `check [DIR]`."""

import argparse
import sys
from pathlib import Path

from .authoring.build import build
from .authoring.check import Checked, check
from .authoring.problem import Problem
from .authoring.project import Project


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 done, 2 it could not be done."""
    parsed = _parser().parse_args(arguments)
    try:
        project = Project.open(parsed.folder)
        if parsed.command == "check":
            _say(f"{_named(check(project))} can be built")
        else:
            output = parsed.output or project.component
            checked = build(project, output)
            _say(f"{_named(checked)} is built: {output}, {output.stat().st_size / 1e6:.1f} MB")
    except Problem as problem:
        _say(f"error: {problem}")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m netquarry_sdk", description="Builds NetQuarry plugins in Python."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    build_command = commands.add_parser("build", help="make the component of the plugin in a folder")
    build_command.add_argument(
        "--output", type=Path, metavar="FILE", help="default: target/NAME.wasm in the folder"
    )
    check_command = commands.add_parser(
        "check", help="look at what the plugin says of itself, without building it"
    )
    for command in (build_command, check_command):
        command.add_argument(
            "folder", type=Path, nargs="?", default=Path(), metavar="DIR", help="default: this folder"
        )
    return parser


def _named(checked: Checked) -> str:
    examples = len(checked.examples)
    counted = f"{examples} example{'' if examples == 1 else 's'}"
    return f"{checked.plugin.name} {checked.plugin.version} ({checked.plugin.kind.value}, {counted})"


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
