"""Holds what a shim puts in the place of the set-up of ultralytics and yolov5 against upstream's.

Arguments: the folder of shim-ultralytics, and a folder that holds ultralytics, yolov5, PyYAML and a setuptools that
still has pkg_resources.
"""

import logging
import os
import pathlib
import sys
import tempfile
import types
import unittest.mock
import warnings

import torch

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Absent, Shim, Story, same  # noqa: E402

SHIM = Shim(sys.argv[1])
sys.path.insert(0, sys.argv[2])
Absent("cv2", "matplotlib", "pandas", "polars", "psutil", "requests", "seaborn", "thop", "tqdm").install()
warnings.simplefilter("ignore")

HOME = tempfile.TemporaryDirectory()
os.chdir(HOME.name)
# Upstream writes its settings when it is imported.
os.environ.update(YOLO_CONFIG_DIR=HOME.name, YOLO_VERBOSE="false", YOLO_OFFLINE="true")
sys.modules["clip"] = types.ModuleType("clip")

import ultralytics.utils  # noqa: E402
from ultralytics.nn import text_model  # noqa: E402
from ultralytics.utils import checks, plotting  # noqa: E402
import yolov5.utils.general  # noqa: E402
import yolov5.utils.plots  # noqa: E402

YOLOV5 = ("yolov5.utils", "utils")  # The package, and the folder of the repository that it is made from.


@SHIM.holds("ultralytics.utils.LOGGER", *(f"{package}.general.LOGGER" for package in YOLOV5))
def loggers():
    assert SHIM.define("ultralytics.utils.LOGGER") is ultralytics.utils.LOGGER
    for package in YOLOV5:
        assert SHIM.define(f"{package}.general.LOGGER") is yolov5.utils.general.LOGGER


@SHIM.holds(*(f"ultralytics.utils.{name}" for name in ("SETTINGS", "WEIGHTS_DIR", "DATASETS_DIR", "RUNS_DIR")))
def settings():
    """The folders and the schema are upstream's; what would reach another program is off, and nobody is named."""
    upstream, ours = dict(ultralytics.utils.SETTINGS), SHIM.define("ultralytics.utils.SETTINGS")
    assert list(upstream) == list(ours), (list(upstream), list(ours))
    for key, value in upstream.items():
        assert type(ours[key]) is type(value), key
        if key.endswith("_dir"):
            assert pathlib.Path(ours[key]).absolute() == pathlib.Path(value).absolute(), (key, value)
        elif value is True:
            assert ours[key] is False, key
        elif key == "uuid":
            assert ours[key] == "", key
        else:
            assert ours[key] == value, (key, value)
    for name in ("WEIGHTS_DIR", "DATASETS_DIR", "RUNS_DIR"):
        folder, other = getattr(ultralytics.utils, name), SHIM.define(f"ultralytics.utils.{name}")
        assert folder.absolute() == other.absolute(), (folder, other)


def of_requirements(check):
    story = Story()
    for requirements in ("torch", "torch>=1.8", ["torch", "pillow>=7.1.2"], ("torch",), [("nothing", "torch")], []):
        story.note(lambda: check(requirements))
    story.note(lambda: check("torch>=2", install=False, cmds="--quiet"))
    return story.lines


@SHIM.holds("ultralytics.utils.checks.check_requirements")
def requirements():
    """Where what is required is there; where it is not, upstream installs it."""
    ours = SHIM.define("ultralytics.utils.checks.check_requirements")
    same("requirements", of_requirements(checks.check_requirements), of_requirements(ours))


def of_yaml_files(check):
    story = Story()
    for name in ("model.yaml", "MODEL.YML", "two parts.yaml", "weights.pt", "bare"):
        pathlib.Path(name).touch()
        for file in (name, pathlib.Path(name), f" {name} ", os.path.abspath(name)):
            story.note(lambda: repr(check(file)))
            story.note(lambda: repr(check(file, suffix=".pt")))
            story.note(lambda: repr(check(file, suffix=(".pt", ".yml"), hard=False)))
    for hard in (True, False):
        for file in ("absent.yaml", "absent/absent.yml", "absent.txt", ""):
            story.note(lambda: repr(check(file, hard=hard)))
    return story.lines


@SHIM.holds("ultralytics.utils.checks.check_yaml")
def yaml_files():
    same("files", of_yaml_files(checks.check_yaml), of_yaml_files(SHIM.define("ultralytics.utils.checks.check_yaml")))


@SHIM.holds("ultralytics.nn.text_model.clip")
def text_models():
    """A stand-in for the package, as upstream imports it and as ours finds it in the end."""
    ours = SHIM.define("ultralytics.nn.text_model.clip")
    sys.modules["clip"].load = lambda name: f"loaded {name}"
    assert ours.load("a") == text_model.clip.load("a") == "loaded a"
    with unittest.mock.patch.dict(sys.modules):
        del sys.modules["clip"]
        story = Story()
        story.note(lambda: ours.load("a"))
        assert story.lines == ["ModuleNotFoundError"]


def of_drawing(draw):
    """What is drawn of features of some kinds: nothing comes back, and the features stay as they are."""
    story, pyplot = Story(), unittest.mock.MagicMock()
    pyplot.subplots.return_value = None, unittest.mock.MagicMock()
    with unittest.mock.patch.object(yolov5.utils.plots, "plt", pyplot):
        kinds = ("models.Detect", (1, 2, 3, 3)), ("models.Conv", (1, 2, 3, 3)), ("models.Conv", (1, 9, 1, 1))
        for kind, shape in kinds:
            torch.manual_seed(0)
            features = torch.rand(shape)
            story.note(lambda: draw(features, kind, 3, save_dir=pathlib.Path(HOME.name)))
            story.keep(lambda: features)
    return story.lines


@SHIM.holds(
    "ultralytics.utils.plotting.feature_visualization",
    *(f"{package}.plots.feature_visualization" for package in YOLOV5),
)
def drawings():
    """The releases of ultralytics that still have the function have it from yolov5."""
    upstream = of_drawing(yolov5.utils.plots.feature_visualization)
    assert list(pathlib.Path(HOME.name).glob("*_features.npy")), "upstream has drawn nothing"
    for path, check in SHIM.checks.items():
        if check is drawings:
            same(path, upstream, of_drawing(SHIM.define(path)))


def of_minimums(check):
    story = Story()
    versions = ("0.0.0", "1.9", "1.10.0", "1.10.0rc1", "1.10", "2.15.0+cu132", "v1.10", "odd")
    for current in versions:
        for minimum in versions:
            for options in ({}, {"pinned": True}, {"hard": True}, {"hard": True, "pinned": True}, {"verbose": True}):
                story.note(lambda: check(current, minimum, **options))
    story.note(check)
    story.note(lambda: check("1.0", name="torch "))
    return story.lines


@SHIM.holds(*(f"{package}.general.check_version" for package in YOLOV5))
def minimums():
    for package in YOLOV5:
        ours = SHIM.define(f"{package}.general.check_version")
        same("minimums", of_minimums(yolov5.utils.general.check_version), of_minimums(ours))


logging.disable(logging.CRITICAL)
SHIM.run()
