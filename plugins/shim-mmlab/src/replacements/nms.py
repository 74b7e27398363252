class NMSop:
    @staticmethod
    def apply(bboxes, scores, iou_threshold, offset, score_threshold, max_num):
        import torch

        kept = None
        if score_threshold > 0:
            kept = (scores > score_threshold).nonzero().squeeze(dim=1)
            bboxes, scores = bboxes[kept], scores[kept]
        # With an offset of 1, a box ends one pixel after its corner.
        far = bboxes.new_tensor([0, 0, offset, offset])
        found = torch.ops.torchvision.nms(bboxes + far, scores, float(iou_threshold))
        if max_num > 0:
            found = found[:max_num]
        return found if kept is None else kept[found]
