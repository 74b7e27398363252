"""What the scripts of this folder share: a shim's replacements, and stories of uses that two sides tell alike."""

import importlib.util
import json
import linecache
import pathlib
import re
import sys
import unittest.mock

import torch

# A row of a shim's table: a dotted path, the text or the file or constant that has it, and then the reason.
ROW = re.compile(r'\(\s*"([\w.]+)",\s*(?:include_str!\("([^"]+)"\)|("(?:[^"\\]|\\.)*")|([A-Z_]+)),\s*["A-Z]')
# A constant of several lines begins with a backslash, which takes its line end away.
CONSTANT = re.compile(r'const ([A-Z_]+): &str = ("(?:[^"\\]|\\.|\\\n)*");')


class Shim:
    """The replacements of a shim, or some part of them, each of which one check of a script has to hold."""

    def __init__(self, folder, part=lambda path: True):
        self.texts, self.checks = {}, {}
        for source in sorted(pathlib.Path(folder, "src").glob("*.rs")):
            rust = source.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
            constants = {name: literal(text) for name, text in CONSTANT.findall(rust)}
            for path, file, text, constant in ROW.findall(rust):
                if not part(path):
                    continue
                if file:
                    self.texts[path] = source.parent.joinpath(file).read_text(encoding="utf-8")
                else:
                    self.texts[path] = literal(text) if text else constants[constant]

    def define(self, path, **space):
        """What the replacement of a path defines, where its module has the names in `space`."""
        space.setdefault("__name__", "equivalent")
        text = self.texts[path]
        linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path  # For who asks for the source.
        exec(compile(text, path, "exec"), space)
        return space[path.rsplit(".", 1)[-1]]

    def holds(self, *paths):
        """Registers a check of the replacements of some paths."""

        def register(check):
            for path in paths:
                assert path in self.texts, f"the shim has no replacement of {path}"
                assert path not in self.checks, f"two checks hold {path}"
                self.checks[path] = check
            return check

        return register

    def run(self):
        left = sorted(self.texts.keys() - self.checks.keys())
        assert self.texts and not left, f"no check holds the replacements of {left}"
        for check in dict.fromkeys(self.checks.values()):
            check()
            print(check.__name__)


def literal(rust):
    """The value of a Rust string, which is that of a JSON string but for its line ends."""
    return json.loads(re.sub(r"\\\n\s*", "", rust).replace("\n", "\\n"))


class Story:
    """What a sequence of uses gives, or the class of its exception."""

    def __init__(self):
        self.lines = []

    def note(self, use):
        """Keeps what a use gives as text."""
        self.keep(lambda: str(use()))

    def keep(self, use):
        """Keeps what a use gives as it is: tensors, which need to be close and not the same."""
        try:
            self.lines.append(use())
        except UnboundLocalError as error:
            self.lines.append(Raised(type(error).__name__))
        except NameError:
            raise  # A slip of the use, which both sides would share.
        except Exception as error:
            self.lines.append(Raised(type(error).__name__))


class Raised(str):
    """The name of an exception's class, which no value is."""


def same(what, upstream, ours):
    """Holds two stories against each other, in which some use at least gives something."""
    assert any(type(line) is not Raised for line in upstream), f"{what}: upstream gives nothing to compare with"
    compare(what, upstream, ours)


def same_refusals(what, upstream, ours):
    """Likewise of what refuses every use that a block can make of it."""
    assert upstream and all(type(line) is Raised for line in upstream), f"{what}: upstream gives {upstream}"
    compare(what, upstream, ours)


def compare(what, upstream, ours):
    for number, (left, right) in enumerate(zip(upstream, ours, strict=True)):
        message = f"{what} {number}: upstream gives {left} and the equivalent {right}"
        assert type(left) is type(right), message
        if all(isinstance(value, torch.Tensor) for value in (left if isinstance(left, tuple) else (left,))):
            torch.testing.assert_close(left, right, equal_nan=True, msg=lambda text: f"{message}\n{text}")
        else:
            assert left == right, message


class Absent:
    """Gives an empty module for packages of which the definitions under test use nothing."""

    def __init__(self, *names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        module = unittest.mock.MagicMock(name=spec.name)
        module.__path__, module.__spec__ = [], spec
        return module

    def exec_module(self, module):
        pass

    def install(self):
        sys.meta_path.insert(0, self)


def of_versions(parse):
    """Versions as upstream compares them: in order, with all their parts, and what is no version."""
    texts = "0.1 1.0 1.0.0 1.10 1.9 2.0.0rc1 2.0.0a2 2.0.0.dev3 2.15.0+cu132 v1.2 1!2.0 1.0.post1 parrots 1..2".split()
    found = []
    for text in texts:
        try:
            version = parse(text)
        except ValueError as error:
            found.append((text, type(error).__name__, str(error)))
            continue
        found.append((str(version), version.release, version.is_prerelease, version.pre, version.post, version.local))
        found.append([version < parse(other) for other in texts[:-2]])
    return found
