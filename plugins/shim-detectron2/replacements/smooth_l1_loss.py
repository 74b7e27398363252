def smooth_l1_loss(input, target, beta, reduction="none"):
    distance = (input - target).abs()
    if beta < 1e-5:
        loss = distance
    else:
        loss = distance.new_tensor(0.5) * distance**2 / beta
        loss = loss.where(distance < beta, distance - 0.5 * beta)
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    return loss.sum() if reduction == "sum" else loss
