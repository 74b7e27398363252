"""Holds the small equivalents of openmmlab's definitions against upstream's.

Arguments: the folder of shim-mmlab, and a folder that holds mmengine, mmcv-lite, addict, packaging and six. What stands
in the place of mmcv's compiled operators, operators.py holds.
"""

import abc
import contextlib
import copy
import io
import logging
import pathlib
import pickle
import sys
import tempfile
import unittest.mock

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Absent, Shim, Story, of_versions, same  # noqa: E402

SHIM = Shim(sys.argv[1], part=lambda path: not path.startswith("mmcv.ops."))
sys.path.insert(0, sys.argv[2])
logging.disable(logging.CRITICAL)
Absent("cv2", "matplotlib", "rich", "termcolor", "yaml", "yapf").install()

from mmengine.config.config import ConfigDict  # noqa: E402
from mmengine.fileio import load  # noqa: E402
from mmengine.fileio.handlers import file_handlers  # noqa: E402
import mmengine.dist.utils  # noqa: E402
from mmengine.logging import MMLogger, print_log  # noqa: E402
from mmengine.model import BaseModule, base_module, initialize, weight_init  # noqa: E402
from mmengine.model.wrappers.utils import is_model_wrapper  # noqa: E402
from mmengine.registry import Registry  # noqa: E402
from mmengine.registry.build_functions import build_from_cfg, build_model_from_cfg  # noqa: E402
from mmengine.runner.checkpoint import CheckpointLoader, _load_checkpoint, load_state_dict  # noqa: E402
from mmcv.utils import ext_loader  # noqa: E402
from packaging import version  # noqa: E402
from six import moves  # noqa: E402


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


class Kept(logging.Handler):
    """Keeps what a logger is told."""

    def __init__(self):
        super().__init__()
        self.told = []

    def emit(self, record):
        self.told.append((record.levelname, record.getMessage()))


@contextlib.contextmanager
def listening(loggers):
    """What some loggers are told, at every level."""
    kept = Kept()
    logging.disable(logging.NOTSET)
    for logger in loggers:
        logger.addHandler(kept)
        logger.setLevel(logging.DEBUG)
    yield kept.told
    for logger in loggers:
        logger.removeHandler(kept)
    logging.disable(logging.CRITICAL)


def of_loggers(MMLogger):
    story = Story()
    note = story.note
    current = MMLogger.get_current_instance()
    note(lambda: (current.name, current is MMLogger.get_instance("mmengine"), isinstance(current, logging.Logger)))
    note(lambda: MMLogger.check_instance_created("a name of its own"))
    other = MMLogger.get_instance("a name of its own", log_level="INFO")
    note(lambda: (MMLogger.get_instance("a name of its own") is other, other is current))
    note(lambda: MMLogger.check_instance_created("a name of its own"))
    with listening([current, other]) as told:
        for logger in (current, other):
            logger.info("%s and %s", 1, 2)
            logger.error("a")
            logger.log(15, "b")
    note(lambda: told)
    return story.lines


def of_printing(print_log, MMLogger):
    story, output = Story(), io.StringIO()
    logger = MMLogger.get_instance("mmengine")
    named = logging.getLogger("named by nobody else")
    with listening([logger, named]) as told, contextlib.redirect_stdout(output):
        for target in (None, "silent", "current", "mmengine", named, "a name that no logger has", 3):
            story.note(lambda: print_log("a % message", target))
            story.note(lambda: print_log(("more",), logger=target, level=logging.WARNING))
    story.note(lambda: told)
    story.note(output.getvalue)
    return story.lines


def of_ranks(master_only):
    story = Story()

    @master_only
    def answer(value, *, more=1):
        """Has a name and a docstring."""
        return value + more

    distributed = torch.distributed
    group = unittest.mock.patch.object(mmengine.dist.utils, "get_default_group", lambda: None)
    for is_initialized, rank in ((False, 1), (True, 0), (True, 1)):
        started = unittest.mock.patch.object(distributed, "is_initialized", lambda: is_initialized)
        place = unittest.mock.patch.object(distributed, "get_rank", lambda *group: rank)
        with started, place, group:
            story.note(lambda: answer(2))
            story.note(lambda: answer(2, more=3))
            story.note(lambda: answer())
    story.note(lambda: (answer.__name__, answer.__doc__))
    return story.lines


def of_extensions(load_ext):
    """Without its extension upstream fails on import, and the equivalent on the first use, in the same way."""
    try:
        load_ext("_ext", ["nms"]).nms()
    except ModuleNotFoundError as error:
        return [error.name]


@SHIM.holds(
    "mmengine.registry.registry.Registry",
    "mmengine.registry.build_functions.build_from_cfg",
    "mmengine.registry.build_functions.build_model_from_cfg",
)
def registries():
    ours = SHIM.define("mmengine.registry.registry.Registry")
    build = SHIM.define("mmengine.registry.build_functions.build_from_cfg")
    build_model = SHIM.define("mmengine.registry.build_functions.build_model_from_cfg")
    same("registry", of_registry(Registry, build_from_cfg, build_model_from_cfg), of_registry(ours, build, build_model))
    same("sequence", of_sequence(Registry, build_model_from_cfg), of_sequence(ours, build_model))


@SHIM.holds("mmengine.model.base_module.BaseModule")
def modules():
    ours = SHIM.define(
        "mmengine.model.base_module.BaseModule",
        nn=nn,
        ABCMeta=abc.ABCMeta,
        copy=copy,
        print_log=print_log,
        initialize=initialize,
        is_model_wrapper=is_model_wrapper,
    )
    with tempfile.TemporaryDirectory() as folder:
        same("module", of_module(BaseModule, folder), of_module(ours, folder))


@SHIM.holds("mmengine.model.weight_init.update_init_info")
def notes():
    """Upstream's own classes initialise alike where the notes for the log are not kept."""
    ours = SHIM.define("mmengine.model.weight_init.update_init_info")
    with tempfile.TemporaryDirectory() as folder:
        upstream = of_module(BaseModule, folder)
        patch = unittest.mock.patch.object
        with patch(weight_init, "update_init_info", ours), patch(base_module, "update_init_info", ours):
            same("notes", upstream, of_module(BaseModule, folder))


@SHIM.holds("mmengine.logging.logger.MMLogger", "mmengine.logging.logger.print_log")
def logs():
    ours = SHIM.define("mmengine.logging.logger.MMLogger")
    printing = SHIM.define("mmengine.logging.logger.print_log")
    # In this order, since a second logger of upstream becomes the current one: the equivalent has no such state.
    same("printing", of_printing(print_log, MMLogger), of_printing(printing, ours))
    same("loggers", of_loggers(MMLogger), of_loggers(ours))


@SHIM.holds("mmengine.dist.utils.master_only")
def ranks():
    same("ranks", of_ranks(mmengine.dist.utils.master_only), of_ranks(SHIM.define("mmengine.dist.utils.master_only")))


@SHIM.holds("mmengine.config.config.ConfigDict")
def configurations():
    ours = SHIM.define("mmengine.config.config.ConfigDict")
    same("configuration", of_configuration(ConfigDict), of_configuration(ours))


@SHIM.holds(
    "mmengine.runner.checkpoint._load_checkpoint",
    "mmengine.runner.checkpoint.CheckpointLoader",
    "mmengine.runner.checkpoint.load_state_dict",
)
def checkpoints():
    ours = SHIM.define("mmengine.runner.checkpoint.load_state_dict")
    same("loading", of_loading(load_state_dict), of_loading(ours))
    ours = SHIM.define("mmengine.runner.checkpoint._load_checkpoint")
    same("checkpoints", of_checkpoints(_load_checkpoint), of_checkpoints(ours))
    loader = SHIM.define("mmengine.runner.checkpoint.CheckpointLoader", _load_checkpoint=ours)
    same("loaders", of_checkpoints(CheckpointLoader.load_checkpoint), of_checkpoints(loader.load_checkpoint))


@SHIM.holds("mmengine.fileio.io.load")
def files():
    same("files", of_files(load), of_files(SHIM.define("mmengine.fileio.io.load", file_handlers=file_handlers)))


@SHIM.holds("mmengine.model.wrappers.utils.is_model_wrapper")
def wrappers():
    ours = SHIM.define("mmengine.model.wrappers.utils.is_model_wrapper")
    models = [nn.Linear(1, 1), nn.DataParallel(nn.Linear(1, 1))]
    same("wrappers", [is_model_wrapper(model) for model in models], [ours(model) for model in models])


@SHIM.holds("mmcv.utils.ext_loader.load_ext")
def extensions():
    same("extensions", of_extensions(ext_loader.load_ext), of_extensions(SHIM.define("mmcv.utils.ext_loader.load_ext")))


@SHIM.holds("packaging.version.parse")
def versions():
    same("versions", of_versions(version.parse), of_versions(SHIM.define("packaging.version.parse")))


@SHIM.holds("six.moves.map", "six.moves.zip")
def iteration():
    same("iteration", [moves.map, moves.zip], [SHIM.define("six.moves.map"), SHIM.define("six.moves.zip")])


SHIM.run()
