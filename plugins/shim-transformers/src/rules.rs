//! The rules, grouped by what they have in common.

/// Decorators that document a class or function, or mark it for machinery that acts on it only on request.
pub(crate) const DROPPED_DECORATORS: [(&str, &str); 11] = [
    ("transformers.utils.auto_docstring.auto_docstring", DOCUMENTS),
    ("transformers.utils.doc.add_code_sample_docstrings", DOCUMENTS),
    ("transformers.utils.doc.add_end_docstrings", DOCUMENTS),
    ("transformers.utils.doc.add_start_docstrings*", DOCUMENTS),
    ("transformers.utils.doc.replace_return_docstrings", DOCUMENTS),
    ("transformers.integrations.hub_kernels.use_kernel_forward_from_hub", MARKS_FOR_KERNELS),
    ("transformers.integrations.hub_kernels.use_kernel_func_from_hub", MARKS_FOR_KERNELS),
    ("transformers.integrations.hub_kernels.use_kernelized_func", MARKS_FOR_KERNELS),
    ("transformers.integrations.accelerate.force_accelerate_hooks", ACCELERATES),
    (
        "transformers.utils.import_utils.requires",
        "notes on the class or function which packages it needs, and returns it",
    ),
    ("typing_extensions.dataclass_transform", "tells type checkers, and nobody else, that the class makes dataclasses"),
];

const DOCUMENTS: &str = "writes the docstring and returns what it is given";
const MARKS_FOR_KERNELS: &str = "marks the class or function for compiled kernels from the hub, which take its place only \
     when the model is told to use them; until then it is as it is";
const ACCELERATES: &str = "calls hooks that the accelerate package puts on modules that it spreads over devices; without \
     such hooks it only calls the function";

/// Mixins that add methods to models and configurations and take none away.
pub(crate) const DROPPED_BASES: [(&str, &str); 4] = [
    ("transformers.utils.hub.PushToHubMixin", "adds methods that upload to the hub"),
    ("transformers.integrations.peft.PeftAdapterMixin", "adds methods that load adapters of the peft package"),
    (
        "transformers.generation.utils.GenerationMixin",
        "adds methods that call the model again and again to generate a sequence; the model itself does not call them",
    ),
    (
        "transformers.generation.continuous_batching.continuous_api.ContinuousMixin",
        "adds methods that serve generation requests in batches; the model itself does not call them",
    ),
];

const LOADS: &str = "loads weights or configurations from files or the hub, or saves them there; a model that is constructed \
     does neither";
const GENERATES: &str = "serves generation, which drives a model from outside";
const SPREADS: &str = "spreads a model over devices or processes, which a program does from outside";
const QUANTIZES: &str = "guards what quantized models must not do, or undoes quantization; a block that is constructed from \
     its arguments is not quantized";
const KERNELS: &str = "puts compiled kernels from the hub in the place of modules, on request";
const SWITCHES: &str = "switches the implementation of attention or experts after construction; the configuration says at \
     construction which one it is";
const RESIZES: &str = "resizes the embeddings of a model that exists already, for another tokenizer";
const MARKS_REMOTE: &str = "enters a class of the user's own into the registry of the auto classes";

const IS_A_REGISTRY: &str = "holds the table of all models by which upstream finds the class that belongs to a configuration; \
     the table imports the modules of the installed package by their names";

/// Methods and attributes, by the class that has them: what a program does *with* a model or a configuration.
pub(crate) const DROPPED_MEMBERS: [(&str, &[&str], &str); 21] = [
    (
        "transformers.modeling_utils.PreTrainedModel",
        &[
            "from_pretrained",
            "_load_pretrained_model",
            "_finalize_model_loading",
            "save_pretrained",
            "add_model_tags",
            "get_init_context",
            "_get_dtype_plan",
            "_move_missing_keys_from_meta_to_device",
            "_initialize_missing_keys",
            "_adjust_missing_and_unexpected_keys",
            "mark_tied_weights_as_initialized",
            "retrieve_modules_from_names",
            "dummy_inputs",
        ],
        LOADS,
    ),
    (
        "transformers.modeling_utils.PreTrainedModel",
        &["generation_config_class", "_default_compile_config", "get_compiled_call"],
        GENERATES,
    ),
    (
        "transformers.modeling_utils.PreTrainedModel",
        &["supports_tp_plan", "tp_size", "fsdp_size", "supports_pp_plan", "supports_context_parallel"],
        SPREADS,
    ),
    (
        "transformers.modeling_utils.PreTrainedModel",
        &["dequantize", "get_memory_footprint", "cuda", "to", "half", "float"],
        QUANTIZES,
    ),
    ("transformers.modeling_utils.PreTrainedModel", &["set_use_kernels", "use_kernels", "train", "eval"], KERNELS),
    (
        "transformers.modeling_utils.PreTrainedModel",
        &[
            "set_attn_implementation",
            "_can_set_attn_implementation",
            "get_experts_implementation",
            "set_experts_implementation",
            "_flash_attn_import_error",
        ],
        SWITCHES,
    ),
    (
        "transformers.modeling_utils.PreTrainedModel",
        &[
            "resize_token_embeddings",
            "_resize_token_embeddings",
            "_get_resized_embeddings",
            "_get_resized_lm_head",
            "_init_added_embeddings_weights_with_mean",
            "_init_added_lm_head_weights_with_mean",
            "_init_added_lm_head_bias_with_mean",
            "_copy_lm_head_original_to_resized",
        ],
        RESIZES,
    ),
    ("transformers.modeling_utils.PreTrainedModel", &["is_remote_code"], MARKS_REMOTE),
    (
        "transformers.distributed.mixin.DistributedMixin",
        &[
            "is_distributed_loading_by_transformers",
            "tp_plan",
            "ep_plan",
            "fsdp_plan",
            "pp_plan",
            "prepare_distribute_model",
            "_validate_parallel_plan",
            "_expand_parallel_plan",
            "_resolve_parallel_plans",
            "maybe_distribute_model",
            "should_save_on_this_rank",
            "save_distributed_checkpoint",
            "gather_sharded_state_dict_for_save",
            "barrier_after_gathered_checkpoint_save",
            "_load_and_finalize_distributed_pretrained_model",
        ],
        SPREADS,
    ),
    (
        "transformers.configuration_utils.PreTrainedConfig",
        &[
            "save_pretrained",
            "from_pretrained",
            "get_config_dict",
            "_get_config_dict",
            "from_json_file",
            "_dict_from_json_file",
            "_decode_special_floats",
            "to_json_file",
        ],
        LOADS,
    ),
    ("transformers.configuration_utils.PreTrainedConfig", &["is_remote_code", "is_custom_code"], MARKS_REMOTE),
    ("transformers.configuration_utils.PreTrainedConfig", &["_get_generation_parameters"], GENERATES),
    (
        "transformers.generation.configuration_utils.GenerationConfig",
        &[
            "__init__",
            "__hash__",
            "__eq__",
            "__repr__",
            "extra_output_flags",
            "get_generation_mode",
            "validate",
            "save_pretrained",
            "from_pretrained",
            "_dict_from_json_file",
            "from_dict",
            "dict_dtype_to_str",
            "to_diff_dict",
            "to_dict",
            "to_json_string",
            "to_json_file",
            "from_model_config",
            "update",
        ],
        "serves generation; of this class a configuration only needs the names of its parameters",
    ),
    (
        "transformers.generation.configuration_utils.GenerationConfig",
        &["__doc__"],
        "documents what the parameters of generation do; of this class a configuration only needs their names",
    ),
    (
        "transformers.models.auto.auto_factory._BaseAutoModelClass",
        &["from_pretrained", "_prepare_config_for_auto_class", "register"],
        LOADS,
    ),
    (
        "transformers.models.auto.auto_factory._BaseAutoBackboneClass",
        &["_load_timm_backbone_from_pretrained", "from_pretrained"],
        LOADS,
    ),
    ("transformers.models.auto.configuration_auto.AutoConfig", &["for_model", "from_pretrained", "register"], LOADS),
    // Of models, configurations, tokenizers and processors.
    ("transformers.*", &["push_to_hub"], LOADS),
    ("transformers.*", &["register_for_auto_class"], MARKS_REMOTE),
    ("transformers.models.auto.modeling_auto", &["Auto*"], IS_A_REGISTRY),
    ("transformers.modeling_utils.ModuleUtilsMixin", &["num_parameters"], "counts parameters for whoever asks"),
];

/// Methods and functions of which only the names of the parameters are ever looked at.
pub(crate) const UNREAD_ANNOTATIONS: [(&str, &str); 3] = [
    ("transformers.*forward", UNREAD),
    ("transformers.masking_utils.*", UNREAD),
    ("transformers.integrations.*", UNREAD),
];

const UNREAD: &str =
    "of a method or function the library reads the names of the parameters, and nothing reads their types";

const OFFERS_NO_KERNEL: &str = "compiled code that upstream loads from the hub; asking for it fails as it does where it \
     cannot be loaded, and the name stays in the table of implementations";

/// Tables that give a class something by its name.
pub(crate) const NAMED_TABLES: [(&str, &str); 1] = [(
    "transformers.loss.loss_utils.LOSS_MAPPING",
    "a model takes the loss whose key is part of the name of its class, or that its own code names, and that of a causal \
     language model where there is none",
)];

/// What is replaced: path, statements, and why they claim to do the same.
pub(crate) const REPLACED: [(&str, &str, &str); 25] = [
    (
        "huggingface_hub.dataclasses.strict",
        include_str!("../replacements/strict.py"),
        "makes a dataclass that is filled from keywords and calls its own `validate_` methods, in the same order, and only \
         leaves out the comparison of each value with the field's annotation and the exception that wraps a validator's",
    ),
    (
        "huggingface_hub.dataclasses.as_validated_field",
        include_str!("../replacements/as_validated_field.py"),
        "makes the same field of a dataclass, with the validator in its metadata",
    ),
    (
        "transformers.utils.logging.get_logger",
        include_str!("../replacements/get_logger.py"),
        "gives the same logger, without handlers and verbosity for the whole library",
    ),
    (
        "transformers.initialization.guard_torch_init_functions",
        include_str!("../replacements/guard_torch_init_functions.py"),
        "keeps torch's initialisers from touching what was loaded from a checkpoint; a block that is constructed has \
         loaded nothing",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel._from_config",
        include_str!("../replacements/from_config.py"),
        "constructs under the dtype of the configuration, without deepspeed, kernels from the hub and classes that the user \
         registered as patches",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel._check_and_adjust_attn_implementation",
        include_str!("../replacements/check_and_adjust_attn_implementation.py"),
        "chooses the implementation as upstream does where neither flash attention nor a kernel from the hub is asked for",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel._flash_attn_can_dispatch",
        include_str!("../replacements/flash_attn_can_dispatch.py"),
        "flash attention is a compiled operator of another package; asking for it fails as it does where that package is \
         not installed",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel.get_correct_experts_implementation",
        include_str!("../replacements/get_correct_experts_implementation.py"),
        "chooses as upstream does; a name that is not known fails where the experts are looked up, and not here",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel.is_custom_code",
        include_str!("../replacements/is_custom_code.py"),
        "upstream asks whether the class lies in transformers, from which the class of a bundle comes; weights of other code \
         are initialised by another rule",
    ),
    (
        "transformers.modeling_utils.PreTrainedModel.can_generate",
        include_str!("../replacements/can_generate.py"),
        "decides only about a configuration for generation, which drives a model from outside",
    ),
    (
        "transformers.modeling_flash_attention_utils.FLASH_ATTENTION_COMPATIBILITY_MATRIX",
        "FLASH_ATTENTION_COMPATIBILITY_MATRIX = {}\n",
        "no version of flash attention, a compiled operator of another package, is offered",
    ),
    (
        "transformers.integrations.flash_attention.flash_attention_forward",
        include_str!("../replacements/flash_attention_forward.py"),
        "flash attention is a compiled operator of another package; the name stays in the table of implementations",
    ),
    (
        "transformers.integrations.deepgemm.deepgemm_bf16_experts_forward",
        include_str!("../replacements/deepgemm_bf16_experts_forward.py"),
        OFFERS_NO_KERNEL,
    ),
    (
        "transformers.integrations.sonicmoe.sonicmoe_experts_forward",
        include_str!("../replacements/sonicmoe_experts_forward.py"),
        OFFERS_NO_KERNEL,
    ),
    (
        "transformers.integrations.hub_kernels.use_kernel_forward_from_hub",
        include_str!("../replacements/use_kernel_forward_from_hub.py"),
        MARKS_FOR_KERNELS,
    ),
    (
        "transformers.integrations.eager_paged.eager_paged_attention_forward",
        include_str!("../replacements/eager_paged_attention_forward.py"),
        "the attention of a server that generates in batches, which needs the cache of one; the name stays in the table of \
         implementations",
    ),
    (
        "transformers.generation.continuous_batching.cache.PagedAttentionCache",
        include_str!("../replacements/paged_attention_cache.py"),
        "the cache of a server that generates in batches; attention only asks whether it was given one, and a block says \
         that it can make none",
    ),
    (
        "transformers.models.auto.auto_factory._BaseAutoModelClass.from_config",
        include_str!("../replacements/auto_from_config.py"),
        "upstream finds the class of a part by its configuration among all models of the installed package; a block says \
         that it holds no such table",
    ),
    (
        "transformers.models.auto.auto_factory.auto_class_update",
        "def auto_class_update(cls, checkpoint_for_example=None, head_doc=\"\"):\n    return cls\n",
        "writes the docstrings of an auto class",
    ),
    (
        "transformers.configuration_utils.SubConfigSpec.get_config_class",
        include_str!("../replacements/get_config_class.py"),
        "upstream finds the class of a configuration by its name among all models; a block is given the configuration \
         itself, and says so where it is not",
    ),
    (
        "transformers.backbone_utils.consolidate_backbone_kwargs_to_config",
        include_str!("../replacements/consolidate_backbone_kwargs_to_config.py"),
        "upstream finds the class of a backbone's configuration by its name among all models or on the hub; a block is \
         given the configuration itself, and says so where it is not",
    ),
    (
        "transformers.model_debugging_utils.model_addition_debugger_context",
        include_str!("../replacements/model_addition_debugger_context.py"),
        "writes what goes through the model into files, for those who port models; the model computes the same without, and \
         keeps its gradients",
    ),
    (
        "transformers.utils.import_utils.is_torch_available",
        "def is_torch_available():\n    return True\n",
        "a block runs where torch is",
    ),
    ("packaging", include_str!("../replacements/packaging.py"), "torch carries a copy of this package"),
    ("packaging.version", "from torch._vendor.packaging import version\n", "torch carries a copy of this package"),
];
