def _check_and_adjust_attn_implementation(self, attn_implementation, is_init_check=False, allow_all_kernels=False):
    if attn_implementation is not None and attn_implementation != "paged|eager":
        attn_implementation = attn_implementation.removeprefix("paged|")
    return self.get_correct_attn_implementation(attn_implementation, is_init_check)
