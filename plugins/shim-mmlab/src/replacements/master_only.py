def master_only(func):
    import functools

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        from torch import distributed

        if not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0:
            return func(*args, **kwargs)

    return wrapper
