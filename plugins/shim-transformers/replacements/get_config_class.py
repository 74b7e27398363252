def get_config_class(self, model_type=None):
    raise ValueError(f"a block knows no configuration by the name {model_type!r}: pass the configuration itself")
