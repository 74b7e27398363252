"""Holds the statements by which shims replace upstream's against upstream's own, or against what they claim.

    replacements_oracle.py PLUGINS HUB

PLUGINS is the folder of the plugins, HUB the unpacked wheel of huggingface_hub. Every check is an assertion.
"""

import dataclasses
import importlib.util
import logging
import pathlib
import sys
import tempfile
import types

import torch

PLUGINS = pathlib.Path(sys.argv[1])
HUB = pathlib.Path(sys.argv[2])


def replacement(shim, file, name):
    space = {"__name__": f"replacement_{name}"}
    exec((PLUGINS / shim / "replacements" / file).read_text(), space)
    return space[name]


def raised(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except Exception as error:
        return error
    return None


def upstream_dataclasses():
    """`huggingface_hub.dataclasses`, without the package around it, which imports an HTTP client."""
    package = types.ModuleType("hub")
    package.__path__ = [str(HUB / "huggingface_hub")]
    errors = types.ModuleType("hub.errors")
    for name, arguments in (("Definition", ()), ("FieldValidation", ("field", "cause")), ("ClassValidation", ("validator", "cause"))):
        body = {"__init__": lambda self, *values, **keywords: Exception.__init__(self, *values, *keywords.values())}
        setattr(errors, f"StrictDataclass{name}Error", type(name, (Exception,), body))
    sys.modules.update({"hub": package, "hub.errors": errors})
    spec = importlib.util.spec_from_file_location("hub.dataclasses", HUB / "huggingface_hub" / "dataclasses.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["hub.dataclasses"] = module
    spec.loader.exec_module(module)
    return module


def configurations(strict, as_validated_field):
    """What classes of configurations do under a decorator, as plain values."""
    called = []

    @as_validated_field
    def small(value):
        called.append(("small", value))
        if value > 9:
            raise ValueError("not small")

    @strict(accept_kwargs=True)
    @dataclasses.dataclass(repr=False)
    class Base:
        size: int = 3
        names: list = dataclasses.field(default_factory=list)

        def __post_init__(self, **keywords):
            called.append(("post", sorted(keywords)))
            for name, value in keywords.items():
                setattr(self, name, value)

        def validate_size(self):
            called.append("size")
            if self.size < 0:
                raise ValueError("negative")

        def validate_names(self):
            called.append("names")

    @strict
    @dataclasses.dataclass(kw_only=True)
    class Derived(Base):
        depth: int = 1

        def validate_depth(self):
            called.append("depth")

    @strict(accept_kwargs=True)
    @dataclasses.dataclass
    class Plain:
        width: int
        height: int = small(default=1)

    seen = [vars(Base()), vars(Base(size=5, other="x")), vars(Derived(depth=2, size=4)), vars(Plain(width=2, more=1))]
    Derived(size=1).validate()
    failures = [raised(Base, size=-1), raised(Plain), raised(Base, 1), raised(Plain, width=1, height=10)]
    return seen, called, [failure is not None for failure in failures], isinstance(Derived(), Base)


def check_strict():
    names = ("strict", "as_validated_field")
    ours = configurations(*(replacement("shim-transformers", f"{name}.py", name) for name in names))
    theirs = configurations(*(getattr(upstream_dataclasses(), name) for name in names))
    assert ours == theirs, (ours, theirs)


def check_logger():
    get_logger = replacement("shim-transformers", "get_logger.py", "get_logger")
    logger = get_logger("replaced")
    assert logger is logging.getLogger("replaced") and get_logger().name == "transformers"
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger.addHandler(handler)
    for _ in range(2):
        logger.warning_once("once")
        logger.warning_advice("always")
    assert [record.getMessage() for record in records] == ["once", "always", "always"]


def check_from_config():
    class Model:
        def __init__(self, config, **keywords):
            self.dtype, self.keywords = torch.get_default_dtype(), keywords

    Model._from_config = replacement("shim-transformers", "from_config.py", "_from_config")
    part = types.SimpleNamespace(dtype=None)
    config = types.SimpleNamespace(dtype=None, sub_configs={"part": None}, part=part)
    made = Model._from_config(config, dtype="float64", attn_implementation="eager", more=1)
    assert (made.dtype, made.keywords) == (torch.float64, {"more": 1})
    assert (config.dtype, part.dtype, config._attn_implementation) == (torch.float64, torch.float64, "eager")
    assert torch.get_default_dtype() == torch.float32
    assert isinstance(raised(Model._from_config, config, dtype=torch.int8), ValueError)


def check_experts():
    choose = replacement("shim-transformers", "get_correct_experts_implementation.py", "get_correct_experts_implementation")

    def refuse():
        raise ValueError

    able, unable = types.SimpleNamespace(_grouped_mm_can_dispatch=lambda: True), types.SimpleNamespace(_grouped_mm_can_dispatch=refuse)
    assert [choose(able, name) for name in (None, "grouped_mm", "eager")] == ["grouped_mm", "grouped_mm", "eager"]
    assert choose(unable, None) == "eager" and isinstance(raised(choose, unable, "grouped_mm"), ValueError)


def check_initialisations():
    weights = replacement("shim-detectron2", "weight_init.py", "weight_init")
    module = torch.nn.Conv2d(6, 8, 3)
    for fill, expected in (
        (weights.c2_xavier_fill, lambda new: new.uniform_(-((3 / 54) ** 0.5), (3 / 54) ** 0.5)),
        (weights.c2_msra_fill, lambda new: new.normal_(0, (2 / 72) ** 0.5)),
    ):
        torch.manual_seed(0)
        fill(module)
        torch.manual_seed(0)
        torch.testing.assert_close(module.weight.detach(), expected(torch.empty(8, 6, 3, 3)))
        assert not module.bias.any()


def check_losses():
    torch.manual_seed(0)
    smooth = replacement("shim-detectron2", "smooth_l1_loss.py", "smooth_l1_loss")
    left, right = torch.randn(7, 4), torch.randn(7, 4)
    for reduction in ("none", "mean", "sum"):
        for beta in (0.3, 1.0):
            expected = torch.nn.functional.smooth_l1_loss(left, right, reduction=reduction, beta=beta)
            torch.testing.assert_close(smooth(left, right, beta, reduction), expected)
        expected = torch.nn.functional.l1_loss(left, right, reduction=reduction)
        torch.testing.assert_close(smooth(left, right, 0.0, reduction), expected)
    assert smooth(left[:0], right[:0], 1.0, "mean") == 0
    giou = replacement("shim-detectron2", "giou_loss.py", "giou_loss")
    boxes, others = torch.tensor([[0.0, 0, 2, 2], [0, 0, 1, 1]]), torch.tensor([[1.0, 1, 3, 3], [2, 2, 3, 3]])
    # Intersection 1 of 7 in a hull of 9; none of 2 in a hull of 9.
    torch.testing.assert_close(giou(boxes, others), 1 - torch.tensor([1 / 7 - 2 / 9, -7 / 9]))
    focal = replacement("shim-detectron2", "sigmoid_focal_loss_jit.py", "sigmoid_focal_loss_jit")
    targets = (right > 0).float()
    right_share = torch.where(targets > 0, left.sigmoid(), 1 - left.sigmoid())
    share = torch.where(targets > 0, 0.25, 0.75)
    expected = -share * (1 - right_share) ** 2 * right_share.log()
    torch.testing.assert_close(focal(left, targets, 0.25, 2.0), expected)


def check_reduction():
    reduce = replacement("shim-detectron2", "differentiable_all_reduce.py", "differentiable_all_reduce")
    value = torch.ones(3)
    assert reduce(value) is value


def check_versions():
    check = replacement("shim-ultralytics", "check_version.py", "check_version")
    assert check("1.10.0", "1.9.1") and not check("1.9", "1.10") and not check("1.2", "1.1", pinned=True)
    assert isinstance(raised(check, "1.0", "2.0", hard=True), AssertionError)


def check_yaml_files():
    check = replacement("shim-ultralytics", "check_yaml.py", "check_yaml")
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        assert check(file.name) == file.name
    assert isinstance(raised(check, file.name), FileNotFoundError) and check(file.name, hard=False) == file.name
    assert isinstance(raised(check, "weights.pt"), AssertionError)


def check_backbones():
    consolidate = replacement(
        "shim-transformers", "consolidate_backbone_kwargs_to_config.py", "consolidate_backbone_kwargs_to_config"
    )
    given = object()
    assert consolidate(given, default_config_type="resnet", use_timm_backbone=True, size=1) == (given, {"size": 1})
    assert isinstance(raised(consolidate, None, default_config_type="resnet"), ValueError)
    assert consolidate(None) == (None, {})


checks = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
for check in checks:
    check()
print(len(checks))
