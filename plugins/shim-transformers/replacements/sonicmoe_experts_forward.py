def sonicmoe_experts_forward(self, *args, **kwargs):
    if not self.has_gate:
        raise ValueError("`sonicmoe` takes experts with a gate, and no others")
    if self.has_post_expert_norm:
        raise ValueError("`sonicmoe` takes no experts with a norm behind them")
    raise ImportError("sonicmoe is compiled code from the hub, which a block does without")
