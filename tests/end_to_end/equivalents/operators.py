"""Holds torchvision's operators, as a shim uses them for mmcv's, against plain loops that follow mmcv's kernels.

Argument: the folder of shim-mmlab.
"""

import itertools
import math
import pathlib
import sys

import torch
import torchvision  # noqa: F401

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Shim  # noqa: E402

SHIM = Shim(sys.argv[1], part=lambda path: path.startswith("mmcv.ops."))


def nms(boxes, scores, threshold, offset, score_threshold, most):
    areas = (boxes[:, 2] - boxes[:, 0] + offset) * (boxes[:, 3] - boxes[:, 1] + offset)
    kept = []
    for index in scores.argsort(descending=True).tolist():
        if score_threshold > 0 and scores[index] <= score_threshold:
            continue
        for other in kept:
            far, near = torch.minimum(boxes[index, 2:], boxes[other, 2:]), torch.maximum(boxes[index, :2], boxes[other, :2])
            inner = (far - near + offset).clamp(min=0).prod()
            if inner / (areas[index] + areas[other] - inner) > threshold:
                break
        else:
            kept.append(index)
    return torch.tensor(kept[:most] if most > 0 else kept)


def bilinear(plane, y, x, outside):
    """The value at a point, zero where `outside` says so; corners beyond the plane count as zero or as its edge."""
    height, width = plane.shape
    if outside(y, height) or outside(x, width):
        return torch.zeros(())
    low_y, low_x = math.floor(y), math.floor(x)
    value = torch.zeros(())
    for corner_y, corner_x in itertools.product((low_y, low_y + 1), (low_x, low_x + 1)):
        if 0 <= corner_y < height and 0 <= corner_x < width:
            value = value + plane[corner_y, corner_x] * (1 - abs(y - corner_y)) * (1 - abs(x - corner_x))
    return value


def roi_align(input, rois, size, scale, ratio, aligned):
    height, width = input.shape[2:]
    output = torch.zeros(len(rois), input.shape[1], size, size)
    for number, (image, *corners) in enumerate(rois.tolist()):
        shift = 0.5 if aligned else 0.0
        left, top, right, bottom = (corner * scale - shift for corner in corners)
        wide, high = (right - left, bottom - top) if aligned else (max(right - left, 1), max(bottom - top, 1))
        rows, columns = (ratio or math.ceil(high / size), ratio or math.ceil(wide / size))
        for channel, row, column in itertools.product(range(input.shape[1]), range(size), range(size)):
            plane, total = input[int(image), channel], torch.zeros(())
            for inner_row, inner_column in itertools.product(range(rows), range(columns)):
                y = top + high / size * (row + (inner_row + 0.5) / rows)
                x = left + wide / size * (column + (inner_column + 0.5) / columns)
                if -1 <= y <= height and -1 <= x <= width:
                    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
                    total = total + bilinear(plane, y, x, lambda place, length: False)
            output[number, channel, row, column] = total / max(rows * columns, 1)
    return output


def deformed(input, offset, mask, weight, bias, stride, padding, dilation, groups, offset_groups):
    out_channels, in_group, kernel, _ = weight.shape
    batch, channels, height, width = input.shape
    out_height, out_width = offset.shape[2:]
    output = torch.zeros(batch, out_channels, out_height, out_width)
    beyond = lambda place, length: place <= -1 or place >= length  # noqa: E731
    for image, out, row, column in itertools.product(*map(range, (batch, out_channels, out_height, out_width))):
        total = torch.zeros(()) if bias is None else bias[out].clone()
        group = out // (out_channels // groups)
        for inner, ky, kx in itertools.product(range(in_group), range(kernel), range(kernel)):
            channel = group * in_group + inner
            place = (channel // (channels // offset_groups)) * kernel * kernel + ky * kernel + kx
            y = row * stride - padding + ky * dilation + offset[image, 2 * place, row, column].item()
            x = column * stride - padding + kx * dilation + offset[image, 2 * place + 1, row, column].item()
            value = bilinear(input[image, channel], y, x, beyond)
            factor = 1.0 if mask is None else mask[image, place, row, column]
            total = total + weight[out, inner, ky, kx] * value * factor
        output[image, out, row, column] = total
    return output


def close(what, ours, reference):
    assert ours.shape == reference.shape and torch.allclose(ours, reference, atol=1e-4), (what, ours, reference)


@SHIM.holds("mmcv.ops.nms.NMSop")
def suppression():
    ours = SHIM.define("mmcv.ops.nms.NMSop").apply
    for offset, score_threshold, most in itertools.product((0, 1), (0.0, 0.4), (-1, 3)):
        corners = torch.rand(40, 2) * 20
        boxes, scores = torch.cat([corners, corners + torch.rand(40, 2) * 12], dim=1), torch.rand(40)
        given = (boxes, scores, 0.4, offset, score_threshold, most)
        assert ours(*given).tolist() == nms(*given).tolist(), given


@SHIM.holds("mmcv.ops.roi_align.RoIAlignFunction")
def regions():
    ours = SHIM.define("mmcv.ops.roi_align.RoIAlignFunction").apply
    input = torch.rand(2, 2, 9, 11)
    rois = torch.tensor([[0, 1.0, 2.0, 13.0, 9.0], [1, -3.0, 0.0, 30.0, 17.0], [1, 4.2, 4.3, 4.9, 4.4]])
    for ratio, aligned, scale in itertools.product((0, 2), (True, False), (0.5, 1.0)):
        given = (input, rois, 3, scale, ratio)
        close("roi_align", ours(*given, "avg", aligned), roi_align(*given, aligned))
    try:
        ours(input, rois, 3, 1.0, 0, "max", True)
    except ModuleNotFoundError as error:
        assert error.name == "mmcv._ext"
    else:
        raise AssertionError("the maximum is native")


@SHIM.holds("mmcv.ops.deform_conv.DeformConv2dFunction", "mmcv.ops.modulated_deform_conv.ModulatedDeformConv2dFunction")
def convolutions():
    plain = SHIM.define("mmcv.ops.deform_conv.DeformConv2dFunction").apply
    modulated = SHIM.define("mmcv.ops.modulated_deform_conv.ModulatedDeformConv2dFunction").apply
    for stride, padding, dilation, groups, offset_groups in [(1, 1, 1, 1, 1), (2, 0, 1, 2, 1), (1, 2, 2, 1, 2), (2, 1, 1, 2, 2)]:
        input, weight, bias = torch.rand(2, 4, 6, 7), torch.randn(4, 4 // groups, 3, 3), torch.randn(4)
        high, wide = ((length + 2 * padding - 2 * dilation - 1) // stride + 1 for length in (6, 7))
        offset = torch.randn(2, offset_groups * 18, high, wide) * 1.5
        mask = torch.rand(2, offset_groups * 9, high, wide)
        options = (stride, padding, dilation, groups, offset_groups)
        close("deform", plain(input, offset, weight, *options), deformed(input, offset, None, weight, None, *options))
        found = modulated(input, offset, mask, weight, bias, *options)
        close("modulated", found, deformed(input, offset, mask, weight, bias, *options))
        found = modulated(input, offset, mask, weight, None, *options)
        close("modulated", found, deformed(input, offset, mask, weight, None, *options))


torch.manual_seed(0)
SHIM.run()
