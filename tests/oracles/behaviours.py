"""Whether a mutant of a bundle behaves as the bundle does: plain Python, and nothing of NetQuarry.

    python -I behaviours.py REQUESTS RESPONSES

A request is a line of JSON with the paths of the bundle (`original`) and of the `mutant`, the `class_name`, the
expressions for its `constructor` and its `forward` pass, and the `lines` of the bundle between which something was
changed. The response is a line with

- `observed`: why one of the two could not be looked at, or null;
- `ran`: whether any of the lines ran in the bundle;
- `differences`: in which of the parts of an observation the two differ, each with the first difference.

Parts are the `state` dictionary after construction, the `output` in evaluation mode, that in `training` mode, the state
after that pass (`trained`) and, beside what a comparison with upstream speaks of, the `gradients`.

Each side runs in a process of its own, forked from one that has imported torch and nothing else.
"""

import dataclasses
import functools
import importlib.util
import inspect
import json
import os
import random
import resource
import sys
import tempfile
import types

import torch

SEED = 0
SECONDS = 120
BYTES = 8 << 30


def main(requests, responses):
    torch.set_num_threads(1)
    originals = {}
    with open(requests, encoding="utf-8") as asked, open(responses, "w", encoding="utf-8") as answers:
        with tempfile.TemporaryDirectory() as scratch:
            for request in map(json.loads, asked):
                answers.write(json.dumps(answer(request, originals, scratch)) + "\n")
                answers.flush()


def answer(request, originals, scratch):
    arguments = (request["class_name"], request["constructor"], request["forward"])
    key = json.dumps([request["original"], *arguments])
    if key not in originals:
        # Mutants of a bundle that are given the same arguments have one original; those of one bundle come together.
        originals.clear()
        bundle, trace = (os.path.join(scratch, name) for name in ("bundle", "trace"))
        problem = in_process(observe, request["original"], arguments, bundle)
        originals[key] = problem or in_process(follow, request["original"], arguments, trace), bundle, trace
    problem, bundle, trace = originals[key]
    if problem:
        return {"observed": f"the bundle: {problem}", "ran": False, "differences": {}}
    start, end = request["lines"]
    ran = any(start <= line <= end for line in read(trace))
    mutant, told = (os.path.join(scratch, name) for name in ("mutant", "differences"))
    problem = in_process(observe, request["mutant"], arguments, mutant) or in_process(compare, bundle, mutant, told)
    if problem:
        return {"observed": f"the mutant: {problem}", "ran": ran, "differences": {}}
    differences = read(told)
    if differences:
        # What differs between two processes that run the bundle itself tells nothing.
        problem = in_process(observe, request["original"], arguments, mutant) or in_process(compare, bundle, mutant, told)
        of_itself = differences if problem else read(told)
        differences = {part: text for part, text in differences.items() if part not in of_itself}
    return {"observed": None, "ran": ran, "differences": differences}


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def in_process(function, *arguments):
    """Calls a function in a child; why it did not come back, or None."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(quiet, stream)
            function(*arguments)
            status = 0
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}"[:500].encode(errors="replace"))
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as file:
        message = file.read()
    _, status = os.waitpid(child, 0)
    return None if status == 0 else message or f"it ended with status {status}"


def observe(path, arguments, told):
    """Writes down all that is seen of a bundle: a list of parts, each as section, name and value."""
    class_name, constructor, forward = arguments
    block = load(path, class_name)
    model = construct(block, constructor)
    seen = list(named("state", model.state_dict()))
    model.eval()
    with torch.no_grad():
        seen += named("output", passed(model, forward))
    model.train()
    with torch.no_grad():
        seen += named("training", passed_or_raised(model, forward))
    seen += named("trained", model.state_dict())
    # Of an instance that nothing was done to.
    model = construct(block, constructor)
    model.eval()
    seen += named("gradients", gradients(model, forward))
    torch.save(seen, told)


def follow(path, arguments, told):
    """Writes down which lines of a bundle run while it is imported, constructed and passed through."""
    class_name, constructor, forward = arguments
    lines = set()

    def in_bundle(frame, event, _):
        if event == "line":
            lines.add(frame.f_lineno)
        return in_bundle

    sys.settrace(lambda frame, *_: in_bundle if frame.f_code.co_filename == path else None)
    try:
        model = construct(load(path, class_name), constructor)
        model.eval()
        with torch.no_grad():
            passed(model, forward)
        model.train()
        with torch.no_grad():
            passed_or_raised(model, forward)
    finally:
        sys.settrace(None)
    with open(told, "w", encoding="utf-8") as file:
        json.dump(sorted(lines), file)


def load(path, class_name):
    # One name for both sides: that of a module can be part of what is seen.
    spec = importlib.util.spec_from_file_location("the_bundle", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["the_bundle"] = module
    seed()
    spec.loader.exec_module(module)
    return getattr(module, class_name)


def seed():
    random.seed(SEED)
    torch.manual_seed(SEED)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED)


def values_of(block, expressions):
    scope = {**vars(sys.modules[block.__module__]), "torch": torch, "nn": torch.nn, "types": types, "functools": functools}
    return {name: eval(expression, dict(scope)) for name, expression in expressions.items()}


def construct(block, expressions):
    seed()
    return apply(block, inspect.signature(block), values_of(block, expressions))


def passed(model, expressions):
    seed()
    return apply(model, inspect.signature(model.forward), values_of(type(model), expressions))


def apply(function, signature, values):
    """Calls by position up to the first parameter that has no value: what `*inputs` takes can be given in no other way."""
    positional = []
    for parameter in signature.parameters.values():
        if parameter.name not in values or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
            break
        positional.append(values.pop(parameter.name))
    return function(*positional, **values)


def passed_or_raised(model, expressions):
    try:
        return passed(model, expressions)
    except Exception as error:
        return type(error).__name__


def gradients(model, expressions):
    """Of the sum of all that comes out; by the name of the parameter."""
    try:
        leaves = [leaf for leaf in tensors_of(passed(model, expressions)) if leaf.requires_grad]
        sum((leaf.abs() if leaf.is_complex() else leaf).sum() for leaf in leaves).backward()
    except Exception as error:
        return type(error).__name__
    return {name: (parameter.requires_grad, parameter.grad) for name, parameter in model.named_parameters()}


def tensors_of(value, above=()):
    if isinstance(value, torch.Tensor):
        yield value
    elif not any(each is value for each in above):
        for _, item in items_of(value):
            yield from tensors_of(item, (*above, value))


def named(section, value, path="", above=()):
    """The parts of a value, those that hold others before what they hold."""
    if isinstance(value, torch.Tensor):
        yield section, path, value.detach().clone()
        return
    yield section, path, shown(value)
    if any(each is value for each in above):
        return
    for name, item in items_of(value):
        yield from named(section, item, f"{path}/{name}", (*above, value))


def items_of(value):
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if isinstance(value, type) or callable(value):
        return ()
    if dataclasses.is_dataclass(value):
        return ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    return getattr(value, "__dict__", {}).items()


def shown(value):
    plain = (type(None), bool, int, float, complex, str, bytes)
    return f"{type(value).__name__} {value!r}" if isinstance(value, plain) else type(value).__name__


def compare(one, other, told):
    """Writes down the first difference of two observations in each section."""
    differences = difference_by_section(*(torch.load(path, weights_only=True) for path in (one, other)))
    with open(told, "w", encoding="utf-8") as file:
        json.dump(differences, file)


def difference_by_section(left, right):
    sections = list(dict.fromkeys(section for section, *_ in (*left, *right)))
    differences = {}
    for section in sections:
        pair = [[(name, value) for of, name, value in side if of == section] for side in (left, right)]
        difference = first_difference(*pair)
        if difference:
            differences[section] = difference
    return differences


def first_difference(left, right):
    if [name for name, _ in left] != [name for name, _ in right]:
        return "other parts"
    for (name, one), (_, other) in zip(left, right):
        if isinstance(one, torch.Tensor) != isinstance(other, torch.Tensor):
            return f"{name}: a tensor and none"
        if not isinstance(one, torch.Tensor):
            if one != other:
                return f"{name}: {one} and {other}"
            continue
        if (one.dtype, one.shape, one.layout) != (other.dtype, other.shape, other.layout):
            return f"{name}: {one.dtype} {list(one.shape)} and {other.dtype} {list(other.shape)}"
        if not same_values(one, other):
            return f"{name}: other values"
    return None


def same_values(one, other):
    if torch.equal(one, other):
        return True
    if not (one.is_floating_point() or one.is_complex()):
        return False
    return bool(((one == other) | (one.isnan() & other.isnan())).all())


if __name__ == "__main__":
    main(*sys.argv[1:])
