def _flash_attn_can_dispatch(self, flash_attn_version, is_init_check=False):
    if not self._supports_flash_attn or flash_attn_version not in (2, 3, 4):
        raise ValueError(f"{type(self).__name__} does not offer flash attention {flash_attn_version}")
    raise ImportError("flash attention is compiled code of another package, which a block does without")
