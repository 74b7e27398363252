def load_state_dict(module, state_dict, strict=False, logger=None):
    import logging

    from torch.nn.parallel import DataParallel, DistributedDataParallel

    metadata = getattr(state_dict, "_metadata", None) or {}
    missing, unexpected, errors = [], [], []

    def load(module, values, prefix=""):
        if isinstance(module, (DataParallel, DistributedDataParallel)):
            module = module.module
        local = metadata.get(prefix[:-1], {})
        module._load_from_state_dict(values, prefix, local, True, missing, unexpected, errors)
        for name, child in module._modules.items():
            if child is not None:
                below = f"{prefix}{name}."
                load(child, {key: value for key, value in values.items() if key.startswith(below)}, below)

    load(module, dict(state_dict))
    if unexpected:
        errors.append(f"unexpected key in source state_dict: {', '.join(unexpected)}\n")
    missing = [key for key in missing if "num_batches_tracked" not in key]
    if missing:
        errors.append(f"missing keys in source state_dict: {', '.join(missing)}\n")
    if errors:
        message = "\n".join(["The model and loaded state dict do not match exactly\n", *errors])
        if strict:
            raise RuntimeError(message)
        if logger is None:
            print(message)
        else:
            named = logging.getLogger("mmengine") if isinstance(logger, str) else logger
            named.log(logging.WARNING, message)
