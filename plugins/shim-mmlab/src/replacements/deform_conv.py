class DeformConv2dFunction:
    @staticmethod
    def apply(
        input, offset, weight, stride=1, padding=0, dilation=1, groups=1, deform_groups=1, bias=False, im2col_step=32
    ):
        import torch
        from torch.nn.modules.utils import _pair

        assert bias is False, "Only support bias is False."
        if input.dim() != 4:
            raise ValueError(f"Expected 4D tensor as input, got {input.dim()}D tensor instead.")
        assert input.size(0) % min(im2col_step, input.size(0)) == 0, "batch size must be divisible by im2col_step"
        input = input.type_as(offset)
        weight = weight.type_as(input)
        return torch.ops.torchvision.deform_conv2d(
            input, weight, offset, weight.new_zeros(input.size(0), 1), weight.new_zeros(weight.size(0)),
            *_pair(stride), *_pair(padding), *_pair(dilation), groups, deform_groups, False,
        )
