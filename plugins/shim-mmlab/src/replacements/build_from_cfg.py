def build_from_cfg(cfg, registry, default_args=None):
    return registry._build_from_cfg(cfg, registry, default_args)
