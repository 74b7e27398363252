"""Makes an instance and a forward pass with given arguments and tells what came of it, for the host to compare.

A bundle and its upstream class are replayed in processes of their own, by this same code: the same seed before the
constructor and before each forward pass, the same expressions, no gradients. Told are, in order, the entries of the
state dictionary after construction, the parts of the output in evaluation mode, those in training mode, and the entries
of the state dictionary after that: the name of each, what it is, and a digest of its bytes.
"""

import ctypes
import hashlib
import importlib
import os

from netquarry_worker import arguments, inputs, levels, memory, randomness, report

# Leaves in one message, and values in one: both keep it far below the longest that the host takes.
LEAVES = 1000
VALUES = 1 << 15
# Of how many elements the values are told, where they are asked for.
MOST_VALUES = 1 << 18
DEPTH = 8
DIGEST_BYTES = 16


class UpstreamMissing(Exception):
    """The upstream module could be imported, and has no such class."""


def run(job, reporter):
    """Reports the state and the output; `stopped` where one of the steps raised."""
    request = job["replay"]
    telling = Telling(reporter, request["values_of"])
    step = "import"
    try:
        randomness.seed()
        block = upstream(request["upstream"], reporter) if request["upstream"] else bundle(job)
        if request["fill_memory"]:
            fill_memory()
        step = "construct"
        randomness.seed()
        model = arguments.call(block, arguments.signature(block), request["constructor"])
        telling.leaves("state", state_of(model))
        if request["forward"] is not None:
            step = "forward"
            # Not what these return: a class that overrides `train` may return nothing.
            model.eval()
            telling.leaves("output", parts_of(run_model(model, request["forward"], randomness.SEED), ""))
            model.train()
            telling.leaves("training", training_output_of(model, request["forward"], randomness.SEED))
            # What a pass leaves behind, as the running mean of a normalisation.
            telling.leaves("trained state", state_of(model))
    except memory.Short:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt are no `Exception`s.
        memory.look_at(error)
        reporter.send("stopped", step=step, exception=report.describe(error))


def bundle(job):
    loaded = levels.Bundle(job)
    for step in (levels.parse, levels.compile_, levels.execute):
        step(loaded)
    return loaded.block


def upstream(wanted, reporter):
    """The class as upstream defines it; tells which file it is from."""
    import torch

    module = importlib.import_module(wanted["module"])
    reporter.send("imported", sha1=digest_of_file(getattr(module, "__file__", None)))
    block = vars(module).get(wanted["class_name"])
    if not isinstance(block, type) or not issubclass(block, torch.nn.Module):
        raise UpstreamMissing(f"{wanted['module']} has no module class {wanted['class_name']!r} once it is imported")
    if wanted["state"] is not None:
        exec(compile(wanted["state"], "<state of upstream>", "exec"), {})
    return block


def digest_of_file(path):
    if not path or not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


def fill_memory():
    """Has torch fill what `torch.empty` gives, so that it is not whatever lay there before."""
    import torch

    # What `torch.use_deterministic_algorithms` does, without looking at a compiler that nobody uses here.
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    torch._C._set_deterministic_fill_uninitialized_memory(True)


def training_output_of(model, expressions, number):
    """In training mode the arguments have not been seen to work: that a pass raises is a result too."""
    try:
        parts = list(parts_of(run_model(model, expressions, number), ""))
    except Exception as error:
        memory.look_at(error)
        return [("", Raised(type(error).__name__))]
    return parts


class Raised(str):
    """The name of an exception's class, in the place of an output."""


def run_model(model, expressions, number):
    """What comes out for inputs that the expressions make after this number was the seed, without gradients."""
    import torch

    randomness.seed(number)
    with torch.no_grad():
        return inputs.repeat_forward(model, expressions)


def state_of(model):
    """The entries of the state dictionary, in its order."""
    for name, value in model.state_dict().items():
        yield from parts_of(value, name)


def parts_of(value, path, depth=0):
    """What a value is made of: containers before what is in them, each as name and value."""
    import torch

    yield path, value
    if isinstance(value, torch.Tensor) or depth == DEPTH:
        return
    for name, item in items_of(value):
        yield from parts_of(item, f"{path}.{name}" if path else str(name), depth + 1)


def items_of(value):
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, type) or callable(value):
        return []
    return sorted(getattr(value, "__dict__", {}).items())


class Telling:
    """Reports parts in messages of bounded length."""

    def __init__(self, reporter, values_of=None):
        self._reporter = reporter
        self._values_of = tuple(values_of) if values_of else None

    def leaves(self, section, parts):
        told = []
        for name, value in parts:
            told.append(leaf(name, value))
            if (section, name) == self._values_of:
                self.values(value)
            if len(told) == LEAVES:
                self._reporter.send("leaves", section=section, leaves=told)
                told = []
        self._reporter.send("leaves", section=section, leaves=told)

    def values(self, value):
        """The first elements of a tensor, each as a double."""
        import torch

        if not isinstance(value, torch.Tensor):
            return
        plain = plain_tensor(value)
        if plain.is_complex():
            plain = torch.view_as_real(plain)
        flat = plain.reshape(-1)[:MOST_VALUES].double()
        for start in range(0, flat.numel(), VALUES):
            self._reporter.send("values", values=bytes_of(flat[start : start + VALUES]).hex())


def leaf(name, value):
    import torch

    if isinstance(value, Raised):
        return {"name": name, "what": f"an exception {value}", "digest": None, "raised": True}
    if not isinstance(value, torch.Tensor):
        return {"name": name, "what": described(value), "digest": None}
    return {"name": name, "what": f"{str(value.dtype).removeprefix('torch.')} {shape_of(value)}", "digest": digest(value)}


def shape_of(tensor):
    import torch

    return "of no shape yet" if torch.nn.parameter.is_lazy(tensor) else list(tensor.shape)


def described(value):
    """A value that is no tensor, without what differs between two equal processes."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return f"{type(value).__name__} {value!r}"[:200]
    if isinstance(value, dict):
        return f"{type(value).__name__} of {', '.join(map(str, value))}"[:200]
    if isinstance(value, list | tuple | set | frozenset):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def digest(tensor):
    """Of the bytes of the elements in order, with one NaN for all; None where a tensor has no bytes."""
    import torch

    if torch.nn.parameter.is_lazy(tensor) or tensor.is_meta:
        return None
    plain = plain_tensor(tensor)
    if (plain.is_floating_point() or plain.is_complex()) and plain.element_size() > 1:
        unlike_itself = plain != plain
        if unlike_itself.any():
            plain = plain.masked_fill(unlike_itself, float("nan"))
    return hashlib.blake2b(bytes_of(plain), digest_size=DIGEST_BYTES).hexdigest()


def plain_tensor(tensor):
    """Dense, contiguous, on the processor, of torch's own class, without pending conjugation or negation."""
    import torch

    plain = tensor.detach().as_subclass(torch.Tensor)
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    if plain.is_quantized:
        plain = plain.dequantize()
    return plain.cpu().resolve_conj().resolve_neg().contiguous()


def bytes_of(plain):
    return ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size()) if plain.numel() else b""
