def differentiable_all_reduce(input):
    import torch.distributed
    import torch.distributed.nn.functional

    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    if not distributed or torch.distributed.get_world_size() == 1:
        return input
    return torch.distributed.nn.functional.all_reduce(input)
