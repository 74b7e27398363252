def giou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    from torchvision.ops import generalized_box_iou_loss

    return generalized_box_iou_loss(boxes1, boxes2, reduction, eps)
