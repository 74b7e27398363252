"""Holds the small equivalents of a shim against upstream's definitions.

Arguments: the folder of the equivalents, and a folder that holds mmengine, addict, packaging and six.
"""

import abc
import copy
import importlib.util
import io
import logging
import pathlib
import pickle
import sys
import tempfile
import unittest.mock

import torch
from torch import nn

FOLDER = pathlib.Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
logging.disable(logging.CRITICAL)


class Absent:
    """Gives an empty module for the packages of which the definitions here use nothing."""

    NAMES = {"cv2", "matplotlib", "rich", "termcolor", "yaml", "yapf"}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.NAMES:
            return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        module = unittest.mock.MagicMock(name=spec.name)
        module.__path__, module.__spec__ = [], spec
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Absent())

from mmengine.config.config import ConfigDict  # noqa: E402
from mmengine.fileio import load  # noqa: E402
from mmengine.fileio.handlers import file_handlers  # noqa: E402
from mmengine.logging import print_log  # noqa: E402
from mmengine.model import BaseModule, initialize  # noqa: E402
from mmengine.model.wrappers.utils import is_model_wrapper  # noqa: E402
from mmengine.registry import Registry  # noqa: E402
from mmengine.registry.build_functions import build_from_cfg, build_model_from_cfg  # noqa: E402
from mmengine.runner.checkpoint import CheckpointLoader, _load_checkpoint, load_state_dict  # noqa: E402
from packaging import version  # noqa: E402
from six import moves  # noqa: E402


def equivalent(name, file, **space):
    exec((FOLDER / f"{file}.py").read_text(), space)
    return space[name]


class Story:
    """What a sequence of uses gives, each as text or as the class of its exception."""

    def __init__(self):
        self.lines = []

    def note(self, use):
        try:
            self.lines.append(str(use()))
        except Exception as error:
            self.lines.append(type(error).__name__)


def of_registry(Registry, build_from_cfg, build_model_from_cfg):
    story = Story()
    note = story.note

    class Part:
        def __init__(self, size=1, **rest):
            self.size, self.rest = size, rest

        def __repr__(self):
            return f"{type(self).__name__}({self.size}, {self.rest})"

    class Other(Part):
        pass

    root = Registry("model", build_model_from_cfg, scope="mmengine")
    first = Registry("model", parent=root, scope="first")
    second = Registry("model", parent=root, scope="second")
    root.register_module("part", module=Part)
    root.register_module(module=Other)

    @first.register_module(name=["One", "Two"])
    class Named(Part):
        pass

    @second.register_module()
    def function(size=2):
        return ("function", size)

    keys = ["part", "Other", "One", "Two", "function", "first.One", "second.function", "mmengine.part"]
    keys += ["first.function", "first.nothing", "nothing", "torch.nn.ReLU", "collections.OrderedDict"]
    configurations = [dict(type="part"), dict(type="Other", size=3), dict(type=Named, more=1), dict(size=2), 5]
    configurations += [dict(type=7), dict(type="nothing"), dict(type="function", _scope_="second")]
    for registry in (root, first, second):
        note(lambda: (len(registry), registry.name, registry.scope, sorted(registry.module_dict)))
        note(lambda: (sorted(registry.children), registry.root is root, registry.parent is root))
        for key in keys:
            if registry is root and key in ("One", "Two", "function"):
                continue  # Found below the root, as under a default scope: the record of the equivalent says so.
            note(lambda: getattr(registry.get(key), "__name__", None))
            note(lambda: key in registry)
        for configuration in configurations:
            note(lambda: registry.build(configuration))
            note(lambda: build_from_cfg(configuration, registry))
            note(lambda: build_from_cfg(configuration, registry, dict(size=9)))
            note(lambda: build_from_cfg(configuration, registry, dict(type="Other")))
    note(lambda: root.register_module(module=Other))
    note(lambda: root.register_module(module=Other, force=True) is Other)
    note(lambda: root.get(3))
    note(lambda: second.build_func is build_model_from_cfg)
    with root.switch_scope_and_registry(None) as registry:
        note(lambda: registry is root)
    with root.switch_scope_and_registry("second") as registry:
        note(lambda: registry is second)
    return story.lines


def of_sequence(Registry, build_model_from_cfg):
    class Layer(BaseModule):
        def __init__(self, value):
            super().__init__(dict(type="Constant", layer="Linear", val=value))
            self.linear = nn.Linear(2, 2)

    registry = Registry("model", build_model_from_cfg, scope="mmengine")
    registry.register_module(module=Layer)
    built = registry.build([dict(type="Layer", value=1.0), dict(type="Layer", value=2.0)])
    built.init_weights()
    weights = {name: value.tolist() for name, value in built.state_dict().items() if "weight" in name}
    return [weights, built.is_init, type(built).__name__, isinstance(built, nn.Sequential), built.init_cfg]


def of_module(BaseModule, folder):
    story = Story()
    note = story.note

    class Own(nn.Linear):
        def init_weights(self):
            nn.init.constant_(self.weight, 5)

    class Block(BaseModule):
        def __init__(self, init_cfg=None):
            super().__init__(init_cfg)
            self.linear, self.norm, self.own = nn.Linear(2, 3), nn.BatchNorm1d(3), nn.DataParallel(Own(3, 3))

    class Net(BaseModule):
        def __init__(self, init_cfg, inner):
            super().__init__(init_cfg)
            self.block, self.last = Block(inner), nn.Linear(3, 2)

    torch.manual_seed(1)
    path = f"{folder}/part.pth"
    torch.save({"last.weight": torch.full((2, 3), 7.0)}, path)
    linear = dict(type="Normal", layer="Linear", std=0.5)
    override = dict(type="Constant", layer="BatchNorm1d", val=2, override=dict(type="Xavier", name="last"))
    for outer, inner in [
        (None, None),
        (linear, None),
        ([linear, dict(type="Kaiming", layer="Linear")], dict(type="TruncNormal", layer=["Linear", "BatchNorm1d"])),
        (override, linear),
        ([dict(type="Pretrained", checkpoint=path), linear], None),
        (dict(type="Unheard"), None),
        ([3], None),
    ]:
        torch.manual_seed(0)
        net = Net(outer, inner)
        note(lambda: (net.init_cfg == outer, net.init_cfg is outer, net.is_init, repr(net)))
        for _ in range(2):
            note(lambda: net.init_weights())
            note(lambda: (net.is_init, net.block.is_init))
            note(lambda: {name: value.tolist() for name, value in net.state_dict().items()})
        net.is_init = False
        # Upstream's notes for the log stay behind where initialising fails.
        note(lambda: (net._is_init, sorted(set(net.__dict__) - {"_params_init_info"})))
    return story.lines


def of_configuration(ConfigDict):
    story = Story()
    note = story.note
    made = ConfigDict(dict(a=1, b=dict(c=[dict(d=2), 3], e=(dict(f=1),))), z=None)
    for use in (
        lambda: made.to_dict(),
        lambda: (made.a, made.b.c[0].d, made.b.e[0].f),
        lambda: made.missing,
        lambda: made["missing"],
        lambda: (made.get("missing"), made.get("a", 4), made.get("missing", 4)),
        lambda: (made.pop("a"), made.pop("a"), made.pop("a", 5)),
        lambda: setattr(made, "q", dict(r=1)),
        lambda: made.q.r,
        lambda: made.update(dict(b=dict(g=1)), h=2),
        lambda: made.update(dict(), dict()),
        lambda: made.to_dict(),
        lambda: (dict(**made) == made, sorted(made), sorted(made.keys()), len(list(made.values()))),
        lambda: type(copy.deepcopy(made).b) is type(made),
        lambda: setattr(copy.deepcopy(made).b, "g", 5),
        lambda: setattr(made.copy().q, "r", 7),
        lambda: made.to_dict(),
        lambda: copy.copy(made) == made,
        lambda: type(made.setdefault("n", dict(m=1))).__name__,
        lambda: made.setdefault("n", 5).m,
        lambda: delattr(made, "n"),
        lambda: ("n" in made, hasattr(made, "n"), bool(ConfigDict())),
        lambda: (made == made.to_dict(), isinstance(made, dict)),
        lambda: ConfigDict([("a", 1)]).to_dict(),
        lambda: ConfigDict(("a", dict(b=1))).a.b,
        lambda: ConfigDict(None).to_dict(),
        lambda: setattr(made, "items", 3),
        lambda: (repr(ConfigDict(a=1)), str(ConfigDict(a=dict(b=2)))),
        lambda: ConfigDict({"x y": {3: 4}}).to_dict(),
    ):
        note(use)
    return story.lines


def of_loading(load_state_dict):
    story = Story()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.DataParallel(nn.BatchNorm1d(3)))
    given = {"0.weight": torch.ones(3, 2), "0.bias": torch.ones(4), "1.weight": torch.full((3,), 2.0), "x": torch.ones(1)}
    for strict in (False, True):
        story.note(lambda: load_state_dict(model, given, strict=strict, logger="current"))
        story.note(lambda: {name: value.tolist() for name, value in model.state_dict().items()})
    return story.lines


def of_checkpoints(load_checkpoint):
    story = Story()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/weights.pth"
        torch.save({"a": torch.ones(2)}, path)
        story.note(lambda: load_checkpoint(path, "cpu"))
        story.note(lambda: load_checkpoint(f"{folder}/missing.pth"))
    return story.lines


def of_files(load):
    story = Story()
    with tempfile.TemporaryDirectory() as folder:
        texts = {"weights.json": '{"size": [1, 2.5], "name": "\u00e9"}', "weights.txt": "no"}
        for name, text in texts.items():
            path = pathlib.Path(folder, name)
            path.write_text(text, encoding="utf-8")
            story.note(lambda path=path: load(path))
            story.note(lambda path=path: load(str(path)))
        pickled = pathlib.Path(folder, "weights.pkl")
        pickled.write_bytes(pickle.dumps({"a": (1, None)}))
        story.note(lambda: load(pickled))
        story.note(lambda: load(io.StringIO('{"open": true}'), file_format="json"))
        story.note(lambda: load(io.BytesIO(pickled.read_bytes()), "pickle"))
        story.note(lambda: load(f"{folder}/weights.txt", "json"))
        story.note(lambda: load(f"{folder}/missing.json"))
        story.note(lambda: load(pathlib.Path(folder, "weights.json").as_uri().replace("file", "odd")))
        story.note(lambda: load(3, "json"))
        story.note(lambda: load(3))
    return story.lines


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


def same(what, upstream, ours):
    for number, (left, right) in enumerate(zip(upstream, ours, strict=True)):
        assert left == right, f"{what} {number}: upstream gives {left} and the equivalent {right}"
    print(what, len(upstream))


same(
    "registry",
    of_registry(Registry, build_from_cfg, build_model_from_cfg),
    of_registry(
        equivalent("Registry", "registry"),
        equivalent("build_from_cfg", "build_from_cfg"),
        equivalent("build_model_from_cfg", "build_model_from_cfg"),
    ),
)
same(
    "sequence",
    of_sequence(Registry, build_model_from_cfg),
    of_sequence(equivalent("Registry", "registry"), equivalent("build_model_from_cfg", "build_model_from_cfg")),
)
with tempfile.TemporaryDirectory() as folder:
    base = equivalent(
        "BaseModule",
        "base_module",
        nn=nn,
        ABCMeta=abc.ABCMeta,
        copy=copy,
        print_log=print_log,
        initialize=initialize,
        is_model_wrapper=is_model_wrapper,
    )
    same("module", of_module(BaseModule, folder), of_module(base, folder))
same("configuration", of_configuration(ConfigDict), of_configuration(equivalent("ConfigDict", "config_dict")))
same("loading", of_loading(load_state_dict), of_loading(equivalent("load_state_dict", "load_state_dict")))
ours = equivalent("_load_checkpoint", "load_checkpoint")
same("checkpoints", of_checkpoints(_load_checkpoint), of_checkpoints(ours))
loader = equivalent("CheckpointLoader", "checkpoint_loader", _load_checkpoint=ours)
same("loaders", of_checkpoints(CheckpointLoader.load_checkpoint), of_checkpoints(loader.load_checkpoint))
same("files", of_files(load), of_files(equivalent("load", "load", file_handlers=file_handlers)))
wrapped = [nn.Linear(1, 1), nn.DataParallel(nn.Linear(1, 1))]
ours = equivalent("is_model_wrapper", "is_model_wrapper")
same("wrappers", [is_model_wrapper(model) for model in wrapped], [ours(model) for model in wrapped])
same("versions", of_versions(version.parse), of_versions(equivalent("parse", "parse_version")))
same("iteration", [moves.map, moves.zip], [equivalent("map", "map"), equivalent("zip", "zip")])
