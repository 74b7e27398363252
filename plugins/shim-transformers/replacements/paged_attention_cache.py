class PagedAttentionCache:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("a block holds no server that generates in batches, and no cache for one")
