"""Meets a challenge: numbers that the host tells only once the bundle has been imported, or its model made.

What they seed cannot have been prepared by code that ran before. Three parts of a challenge are met by children of their
own: one answers, with what comes out of the model; one exports the model; and one that has never seen the bundle answers
in its place, with what was exported. The host compares the answers.
"""

import contextlib
import importlib
import os

from netquarry_worker import arguments, export, graph, layers, memory, randomness, replay, report, study

NUMBER_BYTES = 4


class NoNumber(Exception):
    """The host has no further number for this child."""


class Numbers:
    """The numbers of a challenge, each told when it is asked for and not before."""

    def __init__(self, descriptor, reporter):
        self._descriptor = descriptor
        self._reporter = reporter

    def next(self):
        self._reporter.send("ready")
        told = os.read(self._descriptor, NUMBER_BYTES)
        if len(told) != NUMBER_BYTES:
            raise NoNumber("the host has no further number")
        return int.from_bytes(told, "big")


class Progress:
    """How far a part has come, for who wants to know where it stopped."""

    def __init__(self):
        self.step = "import"


def run(job, reporter, descriptors):
    """Reports what the part is to tell; `stopped` where one of its steps raised."""
    request = job["challenge"]
    numbers = Numbers(descriptors["numbers"], reporter)
    progress = Progress()
    try:
        if request["part"] == "answer":
            answer(job, request, numbers, progress, replay.Telling(reporter))
        elif request["part"] == "export":
            export_model(job, request, numbers, progress, reporter, descriptors["graph"])
        else:
            run_graph(job, request, numbers, progress, reporter, descriptors["graph"])
    except memory.Short:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt are no `Exception`s.
        memory.look_at(error)
        reporter.send("stopped", step=progress.step, exception=report.describe(error))


def answer(job, request, numbers, progress, telling):
    """What comes out in both modes, and what the second leaves behind."""
    from torch.utils import _pytree

    with_composed_attention()
    model, _ = model_of(job, request, numbers, progress)
    progress.step = "forward"
    number = numbers.next()
    output = replay.run_model(model, request["forward"], number)
    telling.leaves("output", replay.parts_of(output, ""))
    telling.leaves("flat", flat_parts(_pytree.tree_leaves(output)))
    telling.leaves("state", replay.state_of(model))
    progress.step = "training"
    model.train()
    telling.leaves("training", replay.training_output_of(model, request["forward"], number))
    telling.leaves("trained state", replay.state_of(model))


def with_composed_attention():
    """Has torch's attention layers made of the operators that an export sees, and not of one fused for evaluation, which
    rounds otherwise."""
    import torch

    torch.backends.mha.set_fastpath_enabled(False)


def model_of(job, request, numbers, progress):
    """The model of a number, and the number. It has made one forward pass, since some make parts of themselves in it."""
    randomness.seed()
    block = replay.bundle(job)
    number = numbers.next()
    progress.step = "construct"
    randomness.seed(number)
    model = arguments.call(block, arguments.signature(block), request["constructor"])
    progress.step = "forward"
    # Not what this returns: a class that overrides `train` may return nothing.
    model.eval()
    replay.run_model(model, request["forward"], number)
    return model, number


def export_model(job, request, numbers, progress, reporter, descriptor):
    """Writes the model's graph to the file of this descriptor."""
    with_composed_attention()
    model, number = model_of(job, request, numbers, progress)
    progress.step = "export"
    randomness.seed(number)
    try:
        exported, tensors, program = export.export(model, request["forward"])
        with open(descriptor, "wb", closefd=False) as file:
            export.write(file, exported, tensors)
        layers.tell(program, reporter)
    finally:
        # Not before: a pass may change the model.
        reporter.send("counted", flops=operations(model, request["forward"], number))
        if job["studies"]:
            try_device(model, request["forward"], reporter)


def operations(model, expressions, number):
    """How many a forward pass has; `None` where torch cannot count them.

    Left to itself torch tells modules apart, by hooks that fail where a parameter's view goes in and gradients are off.
    """
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    counter.mod_tracker = OneModule()
    try:
        with counter:
            replay.run_model(model, expressions, number)
    except Exception as error:  # It says nothing of the model, which has run without being counted.
        memory.look_at(error)
        return None
    return counter.get_total_flops()


def try_device(model, expressions, reporter):
    """Where the model stays there is no way back."""
    try:
        study.Trials(model, expressions, reporter).try_device()
    except Exception as error:  # It has run before, and an export may have left it as it would not run again.
        memory.look_at(error)


class OneModule(contextlib.nullcontext):
    """In the place of torch's tracker of modules: everything runs in the outermost one."""

    parents = frozenset({"Global"})


def run_graph(job, request, numbers, progress, reporter, descriptor):
    """What comes out of the graph in the file of this descriptor."""
    progress.step = "read"
    for package in job["operator_packages"]:
        importlib.import_module(package)
    exported = graph.Graph(descriptor, job["operator_packages"])
    reporter.send("read", operators=exported.operators)
    progress.step = "run"
    outputs = exported.answer(request["forward"], numbers.next())
    replay.Telling(reporter).leaves("flat", flat_parts(outputs))


def flat_parts(values):
    return ((str(place), value) for place, value in enumerate(values))
