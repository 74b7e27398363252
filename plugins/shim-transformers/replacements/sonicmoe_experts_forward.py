def sonicmoe_experts_forward(*args, **kwargs):
    raise ImportError("sonicmoe is compiled code from the hub, which a block does without")
