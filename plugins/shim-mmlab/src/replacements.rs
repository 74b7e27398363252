//! Definitions with a small equivalent.

use netquarry_sdk::shim::Replacement;

/// The dotted path, the Python text and the reason of each.
const REPLACEMENTS: [(&str, &str, &str); 22] = [
    (
        "mmengine.registry.registry.Registry",
        include_str!("replacements/registry.py"),
        "keeps entries, parents, scopes and building. What this file holds is registered when it runs, so nothing is \
         imported by name; a key that neither the registry nor a parent has is looked for in the registries below, as \
         under the default scope that the package's own programs set",
    ),
    (
        "mmengine.registry.build_functions.build_from_cfg",
        include_str!("replacements/build_from_cfg.py"),
        "builds as upstream does, without a log entry for every object; objects that upstream manages globally by name \
         are no blocks",
    ),
    (
        "mmengine.registry.build_functions.build_model_from_cfg",
        include_str!("replacements/build_model_from_cfg.py"),
        "a list of configurations gives a sequence with the one method that upstream's adds: it initialises its parts",
    ),
    (
        "mmengine.logging.logger.MMLogger",
        include_str!("replacements/logger.py"),
        "upstream adds colours, log files and ranks to Python's logger of the same name",
    ),
    (
        "mmengine.logging.logger.print_log",
        include_str!("replacements/print_log.py"),
        "the same message at the same level, to Python's logger of the same name",
    ),
    (
        "mmengine.dist.utils.master_only",
        include_str!("replacements/master_only.py"),
        "the same condition, asked of torch.distributed directly",
    ),
    (
        "mmengine.model.wrappers.utils.is_model_wrapper",
        include_str!("replacements/is_model_wrapper.py"),
        "the registry of wrappers holds torch's two and classes that inherit from them",
    ),
    (
        "mmengine.model.base_module.BaseModule",
        include_str!("replacements/base_module.py"),
        "initialises in the same order; upstream notes beside it which initialiser touched which parameter, for a log",
    ),
    (
        "mmengine.model.weight_init.update_init_info",
        include_str!("replacements/update_init_info.py"),
        "the notes about initialised parameters, which only a log shows, are not kept",
    ),
    (
        "mmengine.runner.checkpoint._load_checkpoint",
        include_str!("replacements/load_checkpoint.py"),
        "reads paths and URLs; the tables of upstream's hubs, loaders of other schemes, registered ones too, and clients \
         of storage services stay outside",
    ),
    (
        "mmengine.runner.checkpoint.CheckpointLoader",
        include_str!("replacements/checkpoint_loader.py"),
        "reads paths and URLs; the tables of upstream's hubs, loaders of other schemes, registered ones too, and clients \
         of storage services stay outside",
    ),
    (
        "mmengine.fileio.io.load",
        include_str!("replacements/load.py"),
        "reads paths, URLs and open files in every format that upstream reads; clients of storage services stay outside",
    ),
    (
        "mmengine.runner.checkpoint.load_state_dict",
        include_str!("replacements/load_state_dict.py"),
        "loads and reports as upstream does, without the base class of test-time augmentation",
    ),
    (
        "mmengine.config.config.ConfigDict",
        include_str!("replacements/config_dict.py"),
        "the same dictionary with attributes; objects that are imported lazily stand only in configuration files",
    ),
    (
        "mmcv.utils.ext_loader.load_ext",
        include_str!("replacements/load_ext.py"),
        "upstream loads its compiled extension on import; without it, every operator of it raises when it is used",
    ),
    ("mmcv.ops.nms.NMSop", include_str!("replacements/nms.py"), "torchvision's operator finds the same boxes"),
    (
        "mmcv.ops.roi_align.RoIAlignFunction",
        include_str!("replacements/roi_align.py"),
        "torchvision's operator computes the same average; the maximum stays native",
    ),
    (
        "mmcv.ops.deform_conv.DeformConv2dFunction",
        include_str!("replacements/deform_conv.py"),
        "torchvision's operator without a mask computes the same",
    ),
    (
        "mmcv.ops.modulated_deform_conv.ModulatedDeformConv2dFunction",
        include_str!("replacements/modulated_deform_conv.py"),
        "torchvision's operator with a mask computes the same",
    ),
    ("packaging.version.parse", include_str!("replacements/parse_version.py"), "torch carries a copy of this package"),
    ("six.moves.map", include_str!("replacements/map.py"), "in Python 3 it is the builtin"),
    ("six.moves.zip", include_str!("replacements/zip.py"), "in Python 3 it is the builtin"),
];

pub(crate) fn all() -> Vec<Replacement> {
    REPLACEMENTS.map(Replacement::from).to_vec()
}
