"""Holds what a shim puts in the place of definitions of transformers and huggingface_hub against upstream's.

Where the replacement refuses what upstream does with all models of the installed package, with a server or with
compiled code, a check holds that it refuses, and what both do of the rest. Arguments: the folder of shim-transformers,
and a folder that holds transformers and what it imports.
"""

import contextlib
import dataclasses
import logging
import os
import pathlib
import sys
import tempfile
import types
import unittest.mock
import warnings

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Shim, Story, of_versions, same, same_refusals  # noqa: E402

SHIM = Shim(sys.argv[1])
sys.path.insert(0, sys.argv[2])
os.environ.update(HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1")
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import packaging  # noqa: E402
import packaging.version  # noqa: E402
from huggingface_hub import dataclasses as hub  # noqa: E402
from transformers import AutoModel, backbone_utils, initialization, model_debugging_utils, modeling_utils  # noqa: E402
from transformers.configuration_utils import PreTrainedConfig, SubConfigSpec  # noqa: E402
from transformers.integrations import deepgemm, eager_paged, flash_attention, hub_kernels, sonicmoe  # noqa: E402
from transformers.models.auto import auto_factory  # noqa: E402
from transformers.models.bert.modeling_bert import BertConfig, BertModel  # noqa: E402
from transformers.models.clip.modeling_clip import CLIPConfig, CLIPModel  # noqa: E402
from transformers.models.gpt2.modeling_gpt2 import GPT2Config, GPT2LMHeadModel  # noqa: E402
from transformers.utils import import_utils  # noqa: E402
from transformers.utils import logging as upstream_logging  # noqa: E402

MODEL = "transformers.modeling_utils.PreTrainedModel"
SIZES = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=9)


def bert(**options):
    return BertConfig(max_position_embeddings=8, **SIZES, **options)


def clip():
    vision = dict(SIZES, image_size=4, patch_size=2)
    return CLIPConfig(text_config=dict(SIZES, max_position_embeddings=8), vision_config=vision, projection_dim=4)


def replaced(model, *names, **others):
    """A class like one of upstream's, in the same module, with some of its methods replaced."""
    body = {name: SHIM.define(f"{MODEL}.{name}", torch=torch) for name in names}
    return type(model.__name__, (model,), dict(body, __module__=model.__module__, **others))


def weights(model):
    return [(name, value.dtype, value.tolist()) for name, value in model.state_dict().items()]


def refuses(error, use):
    try:
        use()
    except error:
        return
    raise AssertionError(f"{use} does not refuse")


def of_configurations(strict, as_validated_field):
    """Classes of configurations, and from which failure each exception comes."""
    story, called = Story(), []

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
            if self.depth == 7:
                raise TypeError("seven")

    @strict(accept_kwargs=True)
    @dataclasses.dataclass(repr=False)
    class Plain:
        width: int
        height: int = small(default=1, metadata={"more": 1})

    def note(use):
        def as_cause():
            try:
                return use()
            except Exception as error:
                raise (error.__cause__ or error) from None

        story.note(as_cause)
        story.note(lambda: called)

    for make in (Base, Derived, Plain):
        given = {"size": 5, "other": "x"}, {"size": -1}, {"depth": 2}, {"depth": 7}, {"width": 2}, {"height": 10}
        for keywords in ({}, *given):
            note(lambda: vars(make(**keywords)))
            note(lambda: vars(make(width=1, **{"height": 3, **keywords})))
        note(lambda: make(1))
        note(lambda: make.validate(make(width=1)))
        note(lambda: setattr(make(width=1), "height", 11))
        note(lambda: setattr(make(width=1), "size", 11))
        note(lambda: [(field.name, sorted(field.metadata)) for field in dataclasses.fields(make)])
        note(lambda: (make.__name__, make.__init__.__name__))
    note(lambda: Derived(size=1) == Derived(size=1))
    note(lambda: (isinstance(Derived(), Base), Base().names is Base().names))
    return story.lines


@SHIM.holds("huggingface_hub.dataclasses.strict", "huggingface_hub.dataclasses.as_validated_field")
def configurations():
    strict = SHIM.define("huggingface_hub.dataclasses.strict")
    as_validated_field = SHIM.define("huggingface_hub.dataclasses.as_validated_field")
    upstream = of_configurations(hub.strict, hub.as_validated_field)
    same("configurations", upstream, of_configurations(strict, as_validated_field))


def of_logger(get_logger):
    story, told = Story(), []
    logger = get_logger("transformers.replaced")
    handler = logging.Handler(logging.DEBUG)
    handler.emit = lambda record: told.append((record.levelname, record.getMessage()))
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logging.disable(logging.NOTSET)
    for silenced in ("", "1"):
        with unittest.mock.patch.dict(os.environ, TRANSFORMERS_NO_ADVISORY_WARNINGS=silenced):
            for emit in (logger.warning, logger.warning_once, logger.info_once, logger.warning_advice):
                for _ in range(2):
                    story.note(lambda: emit("of %s", 1))
                    story.note(lambda: emit("another"))
    logging.disable(logging.CRITICAL)
    logger.removeHandler(handler)
    story.note(lambda: told)
    story.note(lambda: logger.warning_once([1]))
    story.note(lambda: (logger is logging.getLogger("transformers.replaced"), get_logger().name, get_logger(None).name))
    return story.lines


@SHIM.holds("transformers.utils.logging.get_logger")
def loggers():
    upstream = of_logger(upstream_logging.get_logger)
    names = ("warning_once", "info_once", "warning_advice")
    added = {name: getattr(logging.Logger, name) for name in names}
    for name in names:
        delattr(logging.Logger, name)
    try:
        same("loggers", upstream, of_logger(SHIM.define("transformers.utils.logging.get_logger")))
    finally:
        for name, method in added.items():
            setattr(logging.Logger, name, method)


def of_guard(guard):
    """Whatever is initialised for the first time is initialised alike."""
    story = Story()
    makers = [
        lambda: nn.Linear(3, 4),
        lambda: nn.Conv2d(2, 3, 3),
        lambda: nn.LSTM(3, 4),
        lambda: nn.Embedding(4, 3, padding_idx=1),
        lambda: nn.MultiheadAttention(4, 2, kdim=3, vdim=3),
        lambda: nn.BatchNorm2d(3),
        lambda: nn.TransformerEncoderLayer(4, 2, 4),
        lambda: BertModel(bert()),
    ]
    for make in makers:
        torch.manual_seed(0)
        with guard():
            story.note(lambda: weights(make()))
    for name in ("uniform_", "normal_", "ones_", "zeros_", "xavier_uniform_", "kaiming_normal_", "trunc_normal_"):
        torch.manual_seed(0)
        with guard():
            story.note(lambda: getattr(nn.init, name)(torch.empty(3, 4)))
    story.note(lambda: (nn.init.uniform_.__module__, nn.modules.linear.init.uniform_.__module__))
    with contextlib.suppress(KeyError), guard():
        raise KeyError
    return story.lines


@SHIM.holds("transformers.initialization.guard_torch_init_functions")
def initialisations():
    ours = SHIM.define("transformers.initialization.guard_torch_init_functions")
    upstream = of_guard(initialization.guard_torch_init_functions)
    with unittest.mock.patch.object(initialization, "guard_torch_init_functions", ours):
        same("initialisations", upstream, of_guard(ours))


def of_construction(models):
    story = Story()
    for model, make in zip(models, (bert, clip)):
        for options in (
            {},
            {"dtype": torch.float64},
            {"dtype": "bfloat16"},
            {"dtype": None},
            {"torch_dtype": "float16"},
            {"torch_dtype": "float16", "dtype": torch.float64},
            {"torch_dtype": torch.float64, "dtype": "float32"},
            {"dtype": torch.int8},
            {"dtype": "no_dtype"},
            {"dtype": 3},
            {"attn_implementation": "eager"},
            {"attn_implementation": "sdpa", "experts_implementation": "eager", "dtype": "float16"},
            {"attn_implementation": "nothing"},
            {"add_pooling_layer": False},
            {"unheard": 1},
        ):
            for dtype in (None, "float16"):
                config = make()
                config.dtype = dtype
                torch.manual_seed(0)
                story.note(lambda: weights(model._from_config(config, **options)))
                parts = [getattr(config, name) for name in config.sub_configs]
                story.note(lambda: [(part.dtype, part._attn_implementation) for part in (config, *parts)])
                story.note(lambda: config._experts_implementation)
                story.note(torch.get_default_dtype)
                torch.set_default_dtype(torch.float32)
    return story.lines


@SHIM.holds(f"{MODEL}._from_config")
def construction():
    ours = replaced(BertModel, "_from_config"), replaced(CLIPModel, "_from_config")
    same("construction", of_construction((BertModel, CLIPModel)), of_construction(ours))


def of_attention(model):
    """The choice of the attention, with its errors, for models that support more and less."""
    story = Story()
    names = [None, "eager", "sdpa", "flex_attention", "paged|eager", "paged|sdpa", "paged|flex_attention", "nothing"]
    names += ["paged|nothing", "paged|flash_attention_2", *(f"flash_attention_{number}" for number in range(1, 6))]
    for lacking in ((), ("sdpa",), ("flash_attn",), ("flex_attn",), ("sdpa", "flash_attn", "flex_attn")):
        supports = {f"_supports_{name}": name not in lacking for name in ("sdpa", "flash_attn", "flex_attn")}
        derived = type("BertModel", (model,), dict(supports, __module__=model.__module__))
        made = derived(bert(attn_implementation="eager"))
        for name in names:
            for is_init_check in (True, False):
                story.note(lambda: made._check_and_adjust_attn_implementation(name, is_init_check))
            story.note(lambda: derived(bert(attn_implementation=name)).config._attn_implementation)
        for number in (1, 2, 3, 4, 5):
            story.note(lambda: made._flash_attn_can_dispatch(number, is_init_check=True))
    return story.lines


@SHIM.holds(
    f"{MODEL}._check_and_adjust_attn_implementation",
    f"{MODEL}._flash_attn_can_dispatch",
    "transformers.modeling_flash_attention_utils.FLASH_ATTENTION_COMPATIBILITY_MATRIX",
)
def attention():
    matrix = SHIM.define("transformers.modeling_flash_attention_utils.FLASH_ATTENTION_COMPATIBILITY_MATRIX")
    upstream = of_attention(BertModel)
    ours = replaced(BertModel, "_check_and_adjust_attn_implementation", "_flash_attn_can_dispatch")
    with unittest.mock.patch.object(modeling_utils, "FLASH_ATTENTION_COMPATIBILITY_MATRIX", matrix):
        same("attention", upstream, of_attention(ours))
        refuses(ValueError, lambda: ours(bert(attn_implementation="nothing")))


def of_experts(model):
    story = Story()

    def dispatching(error):
        def _grouped_mm_can_dispatch(self):
            if error is not None:
                raise error

        return _grouped_mm_can_dispatch

    for error in (None, ValueError(), ImportError(), KeyError()):
        derived = type("BertModel", (model,), {"_grouped_mm_can_dispatch": dispatching(error)})
        made = object.__new__(derived)
        for name in (None, "eager", "grouped_mm", "batched_mm", "deepgemm", "sonicmoe"):
            story.note(lambda: made.get_correct_experts_implementation(name))
    return story.lines


@SHIM.holds(f"{MODEL}.get_correct_experts_implementation")
def experts():
    same("experts", of_experts(BertModel), of_experts(replaced(BertModel, "get_correct_experts_implementation")))


def of_model(model, config):
    story = Story()
    torch.manual_seed(0)
    made = model(config)
    story.note(lambda: (made.is_custom_code(), weights(made)))
    for training in (False, True):
        made.train(training)
        torch.manual_seed(0)
        given = torch.arange(6).view(2, 3)
        story.keep(lambda: tuple(value for value in made(given).to_tuple() if isinstance(value, torch.Tensor)))
    return story.lines


@SHIM.holds(f"{MODEL}.is_custom_code", f"{MODEL}.can_generate")
def models():
    """Upstream's models are nobody's own code, and compute the same whether or not they know how to generate."""
    names = ("is_custom_code", "can_generate")
    assert not BertModel.can_generate() and not replaced(BertModel, *names).can_generate()
    same("bert", of_model(BertModel, bert()), of_model(replaced(BertModel, *names), bert()))
    config = GPT2Config(n_embd=8, n_layer=1, n_head=2, vocab_size=9, n_positions=8)
    assert GPT2LMHeadModel.can_generate() and not replaced(GPT2LMHeadModel, *names).can_generate()
    same("gpt2", of_model(GPT2LMHeadModel, config), of_model(replaced(GPT2LMHeadModel, *names), config))


def of_compiled(flash, deepgemm, sonicmoe, paged):
    """Asking for compiled code, on a machine that has none of it."""
    story = Story()
    config = types.SimpleNamespace(_attn_implementation="flash_attention_2")
    module = types.SimpleNamespace(is_causal=True, layer_idx=0, config=config)
    states = torch.rand(1, 2, 3, 4, dtype=torch.bfloat16)
    story.note(lambda: flash(module, states, states, states, None))
    story.note(lambda: paged(module, states, states, states, None, 1.0))
    story.note(lambda: paged(module, states, states, states, None, 1.0, cache=None))
    index, share = torch.zeros(3, 2, dtype=torch.long), torch.rand(3, 2)
    for has_gate in (True, False):
        for has_post_expert_norm in (True, False):
            config = types.SimpleNamespace(hidden_act="silu")
            module = types.SimpleNamespace(has_gate=has_gate, has_post_expert_norm=has_post_expert_norm, has_bias=False)
            module.config, module.is_transposed, module.num_experts = config, False, 2
            module.gate_up_proj = module.up_proj = module.down_proj = torch.rand(2, 4, 4)
            for dtype in (torch.float32, torch.bfloat16):
                story.note(lambda: deepgemm(module, torch.rand(3, 4, dtype=dtype), index, share))
                story.note(lambda: sonicmoe(module, torch.rand(3, 4, dtype=dtype), index, share))
    return story.lines


@SHIM.holds(
    "transformers.integrations.flash_attention.flash_attention_forward",
    "transformers.integrations.deepgemm.deepgemm_bf16_experts_forward",
    "transformers.integrations.sonicmoe.sonicmoe_experts_forward",
    "transformers.integrations.eager_paged.eager_paged_attention_forward",
    "transformers.generation.continuous_batching.cache.PagedAttentionCache",
)
def compiled():
    upstream = of_compiled(
        flash_attention.flash_attention_forward,
        deepgemm.deepgemm_bf16_experts_forward,
        sonicmoe.sonicmoe_experts_forward,
        eager_paged.eager_paged_attention_forward,
    )
    paths = [path for path, check in SHIM.checks.items() if check is compiled]
    *functions, cache = (SHIM.define(path, torch=torch) for path in paths)
    same_refusals("compiled", upstream, of_compiled(*functions))
    refuses(NotImplementedError, cache)
    refuses(NotImplementedError, lambda: functions[-1](cache=object()))


@SHIM.holds("transformers.integrations.hub_kernels.use_kernel_forward_from_hub")
def kernels():
    ours = SHIM.define("transformers.integrations.hub_kernels.use_kernel_forward_from_hub")
    for mark in (hub_kernels.use_kernel_forward_from_hub, ours):
        assert mark("RMSNorm")(nn.Linear) is nn.Linear


class Unknown(PreTrainedConfig):
    model_type = "a type that no table has"


@SHIM.holds(
    "transformers.models.auto.auto_factory._BaseAutoModelClass.from_config",
    "transformers.configuration_utils.SubConfigSpec.get_config_class",
)
def tables():
    """A block has no table of all models: it refuses a name as upstream refuses one that its own table has not."""
    path = "transformers.models.auto.auto_factory._BaseAutoModelClass.from_config"
    ours = type("AutoModel", (AutoModel,), {"from_config": SHIM.define(path)})
    for auto in (AutoModel, ours):
        refuses(ValueError, lambda: auto.from_config(Unknown()))
        refuses(ValueError, lambda: auto.from_config(Unknown(), dtype="float16"))
    get_config_class = SHIM.define("transformers.configuration_utils.SubConfigSpec.get_config_class")
    specification = SubConfigSpec(config_class=BertConfig)
    for look in (SubConfigSpec.get_config_class, get_config_class):
        refuses(ValueError, lambda: look(specification, Unknown.model_type))
        refuses(ValueError, lambda: look(specification))


@SHIM.holds("transformers.models.auto.auto_factory.auto_class_update")
def auto_classes():
    """Both leave the methods as they are but for their docstrings."""
    base = auto_factory._BaseAutoModelClass
    ours = SHIM.define("transformers.models.auto.auto_factory.auto_class_update")
    for update in (auto_factory.auto_class_update, ours):
        made = type("AutoMade", (base,), {"_model_mapping": AutoModel._model_mapping})
        assert update(made) is made and update(made, head_doc="a head", checkpoint_for_example="a/b") is made
        for name in ("from_config", "from_pretrained"):
            assert getattr(made, name).__func__.__code__ is getattr(base, name).__func__.__code__
            assert getattr(made, name).__self__ is made


def of_backbones(consolidate):
    story = Story()
    given = bert()
    for options in (
        {},
        {"size": 1},
        {"default_config_type": "resnet", "default_config_kwargs": {"a": 1}, "use_timm_backbone": True, "size": 1},
        {"default_backbone": "resnet50", "timm_default_kwargs": {"a": 1}, "use_pretrained_backbone": True},
        {"backbone": "resnet50", "backbone_kwargs": {"out_indices": [1]}},
        {"backbone": None, "backbone_kwargs": None, "use_timm_backbone": None, "use_pretrained_backbone": None},
    ):
        story.note(lambda: [consolidate(given, **options)[0] is given, consolidate(given, **options)[1]])
    story.note(lambda: consolidate(None))
    story.note(lambda: consolidate(None, size=1, backbone=None, use_timm_backbone=False))
    return story.lines


@SHIM.holds("transformers.backbone_utils.consolidate_backbone_kwargs_to_config")
def backbones():
    ours = SHIM.define("transformers.backbone_utils.consolidate_backbone_kwargs_to_config")
    same("backbones", of_backbones(backbone_utils.consolidate_backbone_kwargs_to_config), of_backbones(ours))
    for options in ({"default_backbone": "resnet50"}, {"default_config_type": "resnet"}, {"backbone": "resnet50"}):
        refuses(ValueError, lambda: ours(None, **options))
    refuses(ValueError, lambda: ours({"model_type": "resnet"}))


def of_debugging(context, folder):
    story = Story()
    torch.manual_seed(0)
    made = BertModel(bert()).eval()
    for options in ({}, {"debug_path": folder, "do_prune_layers": None}, {"debug_path": folder, "use_repr": True}):
        with context(made, **options) as entered:
            story.note(lambda: entered is made)
            story.keep(lambda: made(torch.arange(3)[None]).last_hidden_state.detach())
        story.keep(lambda: made(torch.arange(3)[None]).last_hidden_state.detach())
    return story.lines


@SHIM.holds("transformers.model_debugging_utils.model_addition_debugger_context")
def debugging():
    ours = SHIM.define("transformers.model_debugging_utils.model_addition_debugger_context")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        upstream = of_debugging(model_debugging_utils.model_addition_debugger_context, f"{folder}/upstream")
        same("debugging", upstream, of_debugging(ours, f"{folder}/ours"))
        assert os.path.exists(f"{folder}/upstream") and not os.path.exists(f"{folder}/ours")


@SHIM.holds("transformers.utils.import_utils.is_torch_available")
def torch_itself():
    ours = SHIM.define("transformers.utils.import_utils.is_torch_available")
    assert ours() is import_utils.is_torch_available() is True


@SHIM.holds("packaging", "packaging.version")
def versions():
    upstream = of_versions(packaging.version.parse)
    for version in (SHIM.define("packaging").version, SHIM.define("packaging.version")):
        same("versions", upstream, of_versions(version.parse))
        same("versions", upstream, of_versions(version.Version))


SHIM.run()
