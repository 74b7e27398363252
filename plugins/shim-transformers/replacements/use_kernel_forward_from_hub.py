def use_kernel_forward_from_hub(*args, **kwargs):
    return lambda marked: marked
