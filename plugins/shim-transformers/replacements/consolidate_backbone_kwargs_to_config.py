def consolidate_backbone_kwargs_to_config(backbone_config, default_backbone=None, default_config_type=None, **kwargs):
    for name in ("default_config_kwargs", "timm_default_kwargs", "use_timm_backbone", "backbone_kwargs"):
        kwargs.pop(name, None)
    if kwargs.get("backbone") is not None:
        default_backbone = kwargs.pop("backbone")
    kwargs.pop("use_pretrained_backbone", None)
    has_name = default_backbone is not None or default_config_type is not None
    if isinstance(backbone_config, dict) or (backbone_config is None and has_name):
        raise ValueError("a block knows no configuration of a backbone by its name: pass `backbone_config` itself")
    return backbone_config, kwargs
