def deepgemm_bf16_experts_forward(self, hidden_states, *args, **kwargs):
    if hidden_states.dtype != torch.bfloat16:
        raise ValueError(f"`deepgemm` takes hidden states in bfloat16, and not in {hidden_states.dtype}")
    if self.has_post_expert_norm:
        raise ValueError("`deepgemm` takes no experts with a norm behind them")
    raise ImportError("DeepGEMM is compiled code from the hub, which a block does without")
