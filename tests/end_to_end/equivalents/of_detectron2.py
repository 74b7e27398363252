"""Holds what a shim puts in the place of fvcore's functions against fvcore, gradients and all.

Arguments: the folder of shim-detectron2, and a folder that holds fvcore.
"""

import itertools
import multiprocessing
import os
import pathlib
import sys
import tempfile

import torch
import torch.distributed.nn.functional  # So that the processes below need not import it.
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Absent, Shim, Story, same  # noqa: E402

SHIM = Shim(sys.argv[1])
sys.path.insert(0, sys.argv[2])
Absent("iopath", "tabulate", "termcolor", "tqdm").install()

import fvcore.nn  # noqa: E402
from fvcore.nn import distributed, weight_init  # noqa: E402

REDUCTIONS = ("none", "mean", "sum", "neither")


# Before all that computes gradients here: torch does that in threads, which a copy of the process would be without.
def in_process(rank, store, reduce, answers):
    """The sum of the inputs of two processes, and the gradients of what each makes of it."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    value = torch.tensor([1.0, 2.0], dtype=torch.float64).add(rank * 10).requires_grad_()
    total = reduce(value)
    (total * torch.tensor([3.0, 5.0]) * (rank + 1)).sum().backward()
    answers.put((rank, total.tolist(), value.grad.tolist(), total is value))
    torch.distributed.destroy_process_group()


def of_reduction(reduce):
    fork, value = multiprocessing.get_context("fork"), torch.ones(2)
    answers = fork.Queue()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        given = [(rank, store, reduce, answers) for rank in range(2)]
        processes = [fork.Process(target=in_process, args=arguments, daemon=True) for arguments in given]
        for process in processes:
            process.start()
        found = sorted(answers.get(timeout=60) for _ in processes)
        for process in processes:
            process.join()
    return [reduce(value) is value, *found]


@SHIM.holds("fvcore.nn.distributed.differentiable_all_reduce")
def differentiable_all_reduce():
    ours = SHIM.define("fvcore.nn.distributed.differentiable_all_reduce")
    same("reduction", of_reduction(distributed.differentiable_all_reduce), of_reduction(ours))


def with_gradients(function, *tensors, **options):
    tensors = [tensor.clone().requires_grad_() for tensor in tensors]
    result = function(*tensors, **options)
    result.sum().backward()
    return result.detach(), *(tensor.grad for tensor in tensors)


def of_initialisations(weights):
    story = Story()
    modules = [nn.Conv2d(6, 8, 3), nn.Conv2d(4, 8, 1, bias=False), nn.Linear(5, 7), nn.ConvTranspose2d(4, 6, 2)]
    for module, fill in itertools.product(modules, (weights.c2_xavier_fill, weights.c2_msra_fill)):
        torch.manual_seed(0)
        story.note(lambda: fill(module))
        story.note(lambda: [(name, value.tolist()) for name, value in module.state_dict().items()])
    story.note(lambda: weights.c2_xavier_fill(nn.ReLU()))
    story.note(lambda: weights.c2_msra_fill(nn.BatchNorm1d(3)))
    return story.lines


@SHIM.holds("fvcore.nn.weight_init")
def initialisations():
    same("initialisations", of_initialisations(weight_init), of_initialisations(SHIM.define("fvcore.nn.weight_init")))


def of_smooth(loss):
    story = Story()
    torch.manual_seed(0)
    left, right = torch.randn(7, 4), torch.randn(7, 4)
    right[0] = left[0]
    for dtype, beta, reduction in itertools.product((torch.float32, torch.float64), (0.0, 1e-6, 0.3, 1.0), REDUCTIONS):
        given = left.to(dtype), right.to(dtype)
        story.keep(lambda: with_gradients(loss, *given, beta=beta, reduction=reduction))
        story.keep(lambda: with_gradients(loss, given[0][:0], given[1][:0], beta=beta, reduction=reduction))
    story.keep(lambda: loss(left, right, 0.5))
    story.keep(lambda: loss(left, right[:2], 0.5))
    story.keep(lambda: loss(left, right))
    return story.lines


@SHIM.holds("fvcore.nn.smooth_l1_loss")
def smooth_l1_loss():
    same("smooth", of_smooth(fvcore.nn.smooth_l1_loss), of_smooth(SHIM.define("fvcore.nn.smooth_l1_loss")))


def of_overlaps(loss):
    """Boxes that overlap, touch, are empty, lie apart and lie in one another, and such as are none."""
    story = Story()
    corners = [[0.0, 0, 2, 2], [0, 0, 1, 1], [0, 0, 4, 4], [1, 1, 1, 1], [2, 2, 3, 5], [0.5, 0.25, 3, 1]]
    pairs = torch.tensor(list(itertools.product(corners, corners)))
    for dtype, reduction in itertools.product((torch.float32, torch.float64), REDUCTIONS):
        left, right = pairs.to(dtype).unbind(1)
        story.keep(lambda: with_gradients(loss, left, right, reduction=reduction))
        story.keep(lambda: with_gradients(loss, left[:0], right[:0], reduction=reduction))
    story.keep(lambda: loss(left[7], right[7]))
    story.keep(lambda: loss(left, right, eps=0.1))
    for wrong in ([2.0, 0, 1, 1], [0.0, 2, 1, 1], [float("nan"), 0, 1, 1], [0, 0, 1, float("nan")]):
        story.keep(lambda: loss(torch.tensor([wrong]), torch.tensor([corners[0]])))
        story.keep(lambda: loss(torch.tensor([corners[0]]), torch.tensor([wrong])))
    return story.lines


@SHIM.holds("fvcore.nn.giou_loss")
def giou_loss():
    same("overlaps", of_overlaps(fvcore.nn.giou_loss), of_overlaps(SHIM.define("fvcore.nn.giou_loss")))


def of_focus(loss):
    story = Story()
    torch.manual_seed(0)
    inputs, targets = torch.randn(5, 3) * 4, (torch.rand(5, 3) > 0.5).float()
    for alpha, gamma, reduction in itertools.product((-1.0, -0.5, 0.0, 0.25, 1.0), (0.0, 1.5, 2.0), REDUCTIONS):
        story.keep(lambda: with_gradients(loss, inputs, targets, alpha=alpha, gamma=gamma, reduction=reduction))
    story.keep(lambda: loss(inputs, targets))
    story.keep(lambda: loss(inputs.double(), targets.long(), reduction="mean"))
    story.keep(lambda: loss(inputs[:0], targets[:0], reduction="sum"))
    return story.lines


@SHIM.holds("fvcore.nn.sigmoid_focal_loss_jit")
def sigmoid_focal_loss_jit():
    ours = SHIM.define("fvcore.nn.sigmoid_focal_loss_jit")
    same("focus", of_focus(fvcore.nn.sigmoid_focal_loss_jit), of_focus(ours))


SHIM.run()
