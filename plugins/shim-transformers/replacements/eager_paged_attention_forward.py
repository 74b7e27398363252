def eager_paged_attention_forward(*args, **kwargs):
    if kwargs.get("cache") is None:
        raise ValueError("`paged|eager` takes the cache of a server that generates in batches: use `eager`")
    raise NotImplementedError("a block holds no server that generates in batches, and no cache for one")
