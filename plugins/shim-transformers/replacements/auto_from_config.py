@classmethod
def from_config(cls, config, **kwargs):
    raise ValueError(f"a block holds no table of models in which {type(config).__name__} could be looked up")
