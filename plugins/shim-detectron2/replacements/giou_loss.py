def giou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    from torchvision.ops import generalized_box_iou_loss

    if not (boxes1[..., 2:] >= boxes1[..., :2]).all():
        raise AssertionError("a box ends before it begins, or its place is not a number")
    return generalized_box_iou_loss(boxes1, boxes2, reduction if reduction in ("mean", "sum") else "none", eps)
