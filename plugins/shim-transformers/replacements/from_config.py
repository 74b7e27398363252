@classmethod
def _from_config(cls, config, **kwargs):
    import torch

    dtype = kwargs.pop("dtype", config.dtype)
    older = kwargs.pop("torch_dtype", None)
    if older is not None and dtype == config.dtype:
        dtype = older
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype)
    config.dtype = dtype
    for name in config.sub_configs:
        if getattr(config, name) is not None:
            getattr(config, name).dtype = dtype
    for name in ("attn_implementation", "experts_implementation"):
        if name in kwargs:
            setattr(config, "_" + name, kwargs.pop(name))
    if dtype is None:
        return cls(config, **kwargs)
    if not dtype.is_floating_point:
        raise ValueError(f"Can't instantiate {cls.__name__} under dtype={dtype}, which is no floating point dtype")
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return cls(config, **kwargs)
    finally:
        torch.set_default_dtype(before)
