def sigmoid_focal_loss_jit(inputs, targets, alpha=-1, gamma=2, reduction="none"):
    from torchvision.ops import sigmoid_focal_loss

    alpha, reduction = alpha if alpha >= 0 else -1, reduction if reduction in ("mean", "sum") else "none"
    return sigmoid_focal_loss(inputs.float(), targets.float(), alpha, gamma, reduction)
