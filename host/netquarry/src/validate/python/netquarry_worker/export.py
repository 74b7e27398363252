"""A model as the operators that it is made of: exported by torch, written as plain data.

What is written holds nothing of the block's code and nothing that would run when it is read: JSON that names operators,
their arguments and what feeds what, and behind it the bytes of the tensors. `graph` reads it.

    8 bytes, big-endian: how long the JSON is; the JSON; zeros up to a multiple of 64; the tensors, each at its offset from
    there
"""

import json
import struct

from netquarry_worker import inputs, replay

HEADER = struct.Struct(">Q")
# Tensors begin at multiples of so many bytes.
ALIGNMENT = 64
CHUNK = 1 << 24


class Unsupported(Exception):
    """The export has something that cannot be told as plain data."""


def warm_up():
    """Has torch load what an export loads, which takes two seconds, before anything is forked."""
    import torch
    import torch.utils.flop_counter

    class Warm(torch.nn.Module):
        def forward(self, tensor):
            return torch.nn.functional.relu(tensor) + 1

    torch.export.export(Warm().eval(), (torch.zeros(2, 3),), strict=False)


def export(model, expressions):
    """The graph of a forward pass, the tensors that it holds, and torch's own form of it."""
    import torch

    positional, keywords = inputs.bound(model, expressions)
    with torch.no_grad():
        program = torch.export.export(model, tuple(positional.values()), keywords, strict=False)
    signature = program.graph_signature
    held = Tensors()
    sources = []
    for spec in signature.input_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT":
            sources.append(None)
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            kept = program.state_dict if spec.target in program.state_dict else program.constants
            sources.append(held.add(kept[spec.target]))
        else:
            raise Unsupported(f"an input of the kind {kind}")
    told = [spec.kind.name == "USER_OUTPUT" for spec in signature.output_specs]
    graph = {
        "positional": list(positional),
        "keywords": list(keywords),
        # For each input of the graph where its value is: at a place of `tensors`, or given.
        "sources": sources,
        "outputs": [place for place, is_output in enumerate(told) if is_output],
        "nodes": nodes_of(program.graph_module),
        "tensors": held.described,
    }
    return graph, held.tensors, program


class Tensors:
    """Tensors to be written one after the other."""

    def __init__(self):
        self.tensors = []
        self.described = []
        self.offset = 0

    def add(self, tensor):
        """Its place."""
        plain = replay.plain_tensor(tensor)
        size = plain.numel() * plain.element_size()
        dtype = str(plain.dtype).removeprefix("torch.")
        # Torch picks another way to multiply, which rounds otherwise, where a gradient may be asked for.
        described = {"offset": self.offset, "dtype": dtype, "shape": list(plain.shape), "trained": tensor.requires_grad}
        self.described.append(described)
        self.tensors.append(plain)
        self.offset += size + -size % ALIGNMENT
        return len(self.tensors) - 1


def nodes_of(module):
    """Each node as a list: its kind, its name, and what it takes."""
    import torch

    nodes = []
    for node in module.graph.nodes:
        if node.op == "placeholder":
            nodes.append(["input", node.name])
        elif node.op == "output":
            nodes.append(["output", None, value_of(node.args[0])])
        elif node.op == "call_function":
            nodes.append(["call", node.name, name_of(node.target), value_of(node.args), value_of(node.kwargs)])
        elif node.op == "get_attr" and isinstance(held := module.get_submodule(node.target), torch.fx.GraphModule):
            nodes.append(["graph", node.name, nodes_of(held)])
        else:
            raise Unsupported(f"a node of the kind {node.op}")
    return nodes


def name_of(target):
    """`aten.add.Tensor`, `higher_order.wrap_with_autocast`, `_operator.getitem`"""
    import torch

    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    return f"{target.__module__}.{target.__name__}"


def value_of(value):
    """An argument as JSON: plain values as they are, all others as objects that say what they are."""
    import torch

    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if type(value) is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, torch.fx.Node):
        return {"node": value.name}
    if isinstance(value, list | tuple):
        return [value_of(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[key, value_of(item)] for key, item in value.items()]}
    if isinstance(value, slice):
        return {"slice": [value_of(part) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return {"torch": str(value).removeprefix("torch.")}
    raise Unsupported(f"an argument of the type {type(value).__name__}")


def write(file, graph, tensors):
    """Writes both to an open file."""
    body = json.dumps(graph).encode()
    body += bytes(-(HEADER.size + len(body)) % ALIGNMENT)
    file.write(HEADER.pack(len(body)))
    file.write(body)
    for tensor in tensors:
        data = replay.bytes_of(tensor)
        file.write(data)
        file.write(bytes(-len(data) % ALIGNMENT))
    file.flush()
