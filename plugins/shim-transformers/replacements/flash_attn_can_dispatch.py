def _flash_attn_can_dispatch(self, flash_attn_version, is_init_check=False):
    raise ImportError("flash attention is compiled code of another package, which a block does without")
