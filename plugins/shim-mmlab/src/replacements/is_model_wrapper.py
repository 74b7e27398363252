def is_model_wrapper(model, registry=None):
    from torch.nn.parallel import DataParallel, DistributedDataParallel

    wrappers = (DataParallel, DistributedDataParallel)
    return isinstance(model, wrappers if registry is None else tuple(registry.module_dict.values()))
