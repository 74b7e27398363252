def eager_paged_attention_forward(*args, **kwargs):
    raise NotImplementedError("a block holds no server that generates in batches, and no cache for one")
