def build_model_from_cfg(cfg, registry, default_args=None):
    if not isinstance(cfg, list):
        return registry._build_from_cfg(cfg, registry, default_args)

    from torch import nn

    class Sequential(nn.Sequential):
        init_cfg = None
        is_init = False

        def init_weights(self):
            for module in self:
                if hasattr(module, "init_weights") and not getattr(module, "is_init", False):
                    module.init_weights()
            self.is_init = True

    return Sequential(*(registry._build_from_cfg(part, registry, default_args) for part in cfg))
