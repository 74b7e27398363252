def _check_and_adjust_attn_implementation(self, attn_implementation, is_init_check=False, allow_all_kernels=False):
    return self.get_correct_attn_implementation(attn_implementation, is_init_check)
