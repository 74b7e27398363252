class ModulatedDeformConv2dFunction:
    @staticmethod
    def apply(
        input, offset, mask, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, deform_groups=1
    ):
        import torch
        from torch.nn.modules.utils import _pair

        if input.dim() != 4:
            raise ValueError(f"Expected 4D tensor as input, got {input.dim()}D tensor instead.")
        input, mask = input.type_as(offset), mask.type_as(offset)
        weight = weight.type_as(input)
        bias = weight.new_zeros(weight.size(0)) if bias is None else bias.type_as(input)
        return torch.ops.torchvision.deform_conv2d(
            input, weight, offset, mask, bias,
            *_pair(stride), *_pair(padding), *_pair(dilation), groups, deform_groups, True,
        )
