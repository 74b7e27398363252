"""What a block is made of, and how what it gives follows from what it takes: looked at where it has been constructed, and
tried out where it has run forward.

Told is what was seen, trial by trial; what it means is for others to say.
"""

from netquarry_worker import arguments, constructions, inputs, memory, randomness, report

# Entries in one message keep it far below the longest that the host takes.
ENTRIES = 500
# Of what is larger nothing is told: nobody reads it.
MOST_ENTRIES = 10_000
# So many outputs of a trial are told, and inputs of so many elements made.
MOST_OUTPUTS = 16
MOST_ELEMENTS = 1 << 21
# Of what has more parameters no copy of another type is made.
MOST_PARAMETERS = 1 << 26
# Of axes of single inputs.
MOST_AXES = 16
DTYPES = ("float64", "bfloat16")
# Within one batch the same kernels run, which leaves rounding at most.
TOLERANCE = 1e-4


class TooLarge(Exception):
    """There are more entries than anybody would read."""


def run(bundle, reporter):
    """Reports the structure and the trials of a bundle that has climbed; `stopped` where a step raised that has not raised
    before. It is another instance than those that climbed, which may not be as they were made."""
    constructor, forward = (bundle.evidence.get(key) for key in ("constructor_arguments", "forward_arguments"))
    if constructor is None:
        return
    # One at a time: they may be large.
    bundle.model = None
    step = "construct"
    try:
        randomness.seed()
        model = arguments.call(bundle.block, arguments.signature(bundle.block), constructor)
        trials = None
        if forward is not None:
            step = "forward"
            model.eval()
            trials = Trials(model, forward, reporter)
        # Behind a forward pass, in which some make parts of themselves.
        step = "look"
        tell_structure(model, reporter)
        step = "try"
        if trials:
            trials.run()
    except memory.Short:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt are no `Exception`s.
        memory.look_at(error)
        reporter.send("stopped", step=step, exception=report.describe(error))


def tell_structure(model, reporter):
    state, submodules = [], []
    if constructions.is_set_up(model):
        state, submodules = list(state_of(model)), list(submodules_of(model))
    if max(len(state), len(submodules)) > MOST_ENTRIES:
        raise TooLarge(f"it has more than {MOST_ENTRIES} parts")
    for start in range(0, max(len(state), len(submodules), 1), ENTRIES):
        end = start + ENTRIES
        reporter.send("structure", state=state[start:end], submodules=submodules[start:end])


def state_of(model):
    """Parameters and buffers, each under every name that it has, module after module."""
    first_names = {}
    for path, module in model.named_modules(remove_duplicate=False):
        transient = module._non_persistent_buffers_set
        for kind, held in (("parameter", module._parameters), ("buffer", module._buffers)):
            for key, tensor in held.items():
                if tensor is None:
                    continue
                name = joined(path, key)
                first = first_names.setdefault(id(tensor), name)
                yield {
                    "name": name,
                    "kind": "transient_buffer" if kind == "buffer" and key in transient else kind,
                    "shape": shape_of(tensor),
                    "dtype": str(tensor.dtype).removeprefix("torch."),
                    "trained": bool(tensor.requires_grad),
                    "same_as": first if first != name else None,
                }


def submodules_of(model):
    """The model itself is the one whose path is empty."""
    for path, module in model.named_modules(remove_duplicate=False):
        yield {"path": path, "class_name": class_name_of(module), "options": options_of(module)}


def joined(path, key):
    return f"{path}.{key}" if path else key


def shape_of(tensor):
    """`None` for a parameter that gets its shape from what it meets first."""
    import torch

    return None if torch.nn.parameter.is_lazy(tensor) else list(tensor.shape)


def class_name_of(module):
    """`torch.nn.Conv2d` for what torch has; for all else the name of the class alone."""
    import torch

    kind = type(module)
    if getattr(torch.nn, kind.__name__, None) is kind:
        return f"torch.nn.{kind.__name__}"
    return f"{kind.__module__}.{kind.__name__}" if kind.__module__.startswith("torch.") else report.bounded(kind.__name__, report.NAME_LENGTH)


def options_of(module):
    """What one of torch's own layers was given, but for what is the default, as Python expressions; of others nothing."""
    if not type(module).__module__.startswith("torch."):
        return {}
    options = {}
    for parameter in arguments.signature(type(module)):
        value = getattr(module, parameter.name, None)
        if parameter.name == "bias" and not isinstance(value, bool):
            value = value is not None
        if parameter.name in vars(module) | module._parameters and is_plain(value) and value != parameter.default:
            options[parameter.name] = repr(value)
    return options


def is_plain(value, depth=0):
    if isinstance(value, tuple | list):
        return depth < 2 and len(value) <= 8 and all(is_plain(item, depth + 1) for item in value)
    return value is None or type(value) in (bool, int, float) or type(value) is str and len(value) <= 40


class Trials:
    """Forward passes with inputs that differ from those that are known to work."""

    def __init__(self, model, expressions, reporter):
        self.model = model
        self.expressions = expressions
        self.reporter = reporter
        self.parameters = [parameter for parameter in inputs.parameters_of(model) if parameter.name in expressions]
        self.tensors = dict(self.leaves(self.values()))
        # What is in objects is not changed, and would no longer fit to the rest.
        values = self.values()
        hidden = {name for key in values for name, _ in inputs.tensors_in(values[key], key, seen=set())}
        self.is_plain = hidden == self.tensors.keys() and bool(self.tensors)
        # Once, for those that make parts of themselves.
        self.pass_with(lambda name, tensor: tensor)

    def run(self):
        if self.is_plain:
            batch, least = self.try_batch()
            self.try_axes(batch)
            if sum(parameter.numel() for parameter in constructions.sized(self.model)) <= MOST_PARAMETERS:
                for dtype in DTYPES:
                    self.try_dtype(dtype, least)

    def values(self):
        randomness.seed()
        return inputs.evaluate(self.model, self.parameters, self.expressions)

    def leaves(self, values):
        """The tensors that can be changed, by name."""
        found = []
        for key, value in values.items():
            changed(value, key, lambda name, tensor: found.append((name, tensor)))
        return found

    def pass_with(self, change):
        """What a forward pass gives whose tensors were changed."""
        import torch

        values = {key: changed(value, key, change) for key, value in self.values().items()}
        randomness.seed()
        with torch.no_grad():
            return inputs.call_forward(self.model, self.parameters, values)

    def outputs_of(self, change):
        """The tensors that come out; `None` where it raises."""
        try:
            output = self.pass_with(change)
        except Exception as error:
            memory.look_at(error)
            return None
        tensors = list(inputs.tensors_in(output, "")) or list(inputs.tensors_in(output, "", seen=set()))
        return [tensor for _, tensor in tensors]

    def try_sizes(self, varied, sizes):
        """What comes out for inputs of other sizes; `sizes` has those of some axes, by input and axis."""
        if not sizes or sum(self.elements(name, sizes) for name in self.tensors) > MOST_ELEMENTS:
            return None
        found = self.outputs_of(lambda name, tensor: resized(name, tensor, sizes))
        axes = [{"input": name, "axis": axis, "size": size} for (name, axis), size in sizes.items()]
        told = found and [list(tensor.shape) for tensor in found[:MOST_OUTPUTS]]
        self.reporter.send("trial", varied=varied, axes=axes, outputs=told or None)
        return found

    def elements(self, name, sizes):
        count = 1
        for axis, size in enumerate(self.tensors[name].shape):
            count *= sizes.get((name, axis), size)
        return count

    def try_batch(self):
        """The first axis of all inputs that are as long in it as the first is. Gives the names of these, and the sizes of the
        smallest batch that worked."""
        first = next(iter(self.tensors.values()))
        if not first.dim():
            return set(), {}
        count = first.shape[0]
        batch = {name for name, tensor in self.tensors.items() if tensor.dim() and tensor.shape[0] == count}
        least = {}
        for size in dict.fromkeys((1, count + 1)):
            sizes = {(name, 0): size for name in batch}
            found = size != count and self.try_sizes("batch", sizes)
            if found and size > 1:
                self.try_independence(batch, sizes, found)
            elif found:
                least = sizes
        return batch, least

    def try_independence(self, batch, sizes, before):
        """Whether the first of a batch gives the same whatever the others are."""
        floating = {name for name in batch if self.tensors[name].is_floating_point()}

        def others_changed(name, tensor):
            tensor = resized(name, tensor, sizes)
            return at_others(tensor) if name in floating else tensor

        after = floating and self.outputs_of(others_changed)
        size = next(iter(sizes.values()))
        if not after or any(not tensor.dim() or tensor.shape[0] != size for tensor in (*before, *after)):
            return
        self.reporter.send("independence", independent=all(map(is_close, first_of(before), first_of(after))))

    def try_axes(self, batch):
        """Heights and widths of all inputs together, and other axes one by one and with all others of their size."""
        grids = {name: range(2, tensor.dim()) for name, tensor in self.tensors.items() if tensor.dim() > 3}
        grid = [(name, axis) for name, axes in grids.items() for axis in axes]
        self.try_larger("grid", grid)
        single = [
            (name, axis)
            for name, tensor in self.tensors.items()
            for axis in range(tensor.dim())
            if axis not in grids.get(name, ()) and (axis or name not in batch)
        ][:MOST_AXES]
        by_size = {}
        for place in single:
            self.try_larger("axis", [place])
            by_size.setdefault(self.size(place), []).append(place)
        for together in by_size.values():
            if len(together) > 1:
                self.try_larger("axes", together)

    def size(self, place):
        name, axis = place
        return self.tensors[name].shape[axis]

    def try_larger(self, varied, places):
        """Twice as long and, where that works, longer by one."""
        doubled = self.try_sizes(varied, {place: 2 * self.size(place) for place in places})
        if doubled:
            self.try_sizes(varied, {place: self.size(place) + 1 for place in places})
        return doubled

    def try_dtype(self, name, sizes):
        import torch

        dtype = getattr(torch, name)

        def converted(name, tensor):
            tensor = resized(name, tensor, sizes)
            return tensor.to(dtype) if tensor.is_floating_point() else tensor

        found = self.on(converted, dtype)
        told = found and [str(tensor.dtype).removeprefix("torch.") for tensor in found[:MOST_OUTPUTS]]
        self.reporter.send("dtype", dtype=name, outputs=told or None)

    def try_device(self):
        """Whether it runs on another device than the processor: one that has shapes and no values, and refuses to mix. Torch
        has that of what it has for exports, which takes a second to import."""
        if self.is_plain:
            found = self.on(lambda _, tensor: tensor.to("meta"), "meta")
            self.reporter.send("device", works=bool(found) and all(tensor.is_meta for tensor in found))

    def on(self, change, place):
        """What comes out once the model is of another type or somewhere else. It stays there."""
        try:
            if constructions.is_set_up(self.model):
                self.model.to(place)
        except Exception as error:
            memory.look_at(error)
            return None
        return self.outputs_of(change)


def changed(value, path, change):
    """The value with its tensors changed that are in plain sight; each is known by its dotted path."""
    import torch

    if isinstance(value, torch.Tensor):
        return change(path, value)
    if type(value) is dict:
        return {key: changed(item, joined(path, str(key)), change) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(changed(item, joined(path, str(place)), change) for place, item in enumerate(value))
    return value


def resized(name, tensor, sizes):
    """What is longer begins anew with its first."""
    import torch

    for axis, present in enumerate(tensor.shape):
        size = sizes.get((name, axis))
        if size is not None and present:
            tensor = tensor.index_select(axis, torch.arange(size) % present)
    return tensor


def at_others(tensor):
    """All but the first of a batch is another."""
    import torch

    return torch.cat([tensor[:1], tensor[1:] * 0.5 + 0.25])


def first_of(tensors):
    return [tensor[0] for tensor in tensors]


def is_close(left, right):
    import torch

    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if not left.is_floating_point():
        return torch.equal(left, right)
    return torch.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
