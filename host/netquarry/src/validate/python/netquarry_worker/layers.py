"""The calls that an exported model is made of: torch's own layers as one each, and its operators between them."""

from netquarry_worker import export

# Of a model with more nothing is told: nobody reads it.
MOST_CALLS = 5000
# Calls in one message keep it far below the longest that the host takes.
CALLS = 500
# They only hold others.
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict")


def tell(program, reporter):
    calls = calls_of(program)
    if len(calls) <= MOST_CALLS:
        for start in range(0, len(calls), CALLS):
            reporter.send("layers", calls=calls[start : start + CALLS])


def calls_of(program):
    """In the order in which they run; what feeds them is told by its place in this list."""
    given = {spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"}
    calls = []
    places = {}
    last_call = None
    for node in program.graph_module.graph.nodes:
        sources = dict.fromkeys(places[source] for source in node.all_input_nodes if source in places)
        if node.op == "placeholder":
            if node.name in given:
                places[node] = add(calls, "input", node.name, [], node)
        elif node.op == "output":
            add(calls, "output", None, sources, node)
        elif node.op == "call_function":
            call, path, kind = layer_of(node)
            if export.name_of(node.target) == "_operator.getitem" and sources:
                places[node] = next(iter(sources))
            elif call is not None and call == last_call:
                places[node] = len(calls) - 1
                last = calls[-1]
                last["inputs"].extend(each for each in sources if each not in (*last["inputs"], places[node]))
                last["shape"] = shape_of(node)
            else:
                operation = kind if call is not None else export.name_of(node.target)
                places[node] = add(calls, operation, path, sources, node)
                last_call = call
    return calls


def add(calls, operation, path, sources, node):
    calls.append({"operation": operation, "path": path, "inputs": list(sources), "shape": shape_of(node)})
    return len(calls) - 1


def layer_of(node):
    """The outermost of torch's own layers in which the operator stands: a key that another call of the same layer does not
    share, its path, and its class; none where it stands in none."""
    import torch

    for call, (path, kind) in (node.meta.get("nn_module_stack") or {}).items():
        text = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        name = text.rpartition(".")[2]
        if text.startswith("torch.nn.") and hasattr(torch.nn, name) and name not in CONTAINERS:
            return call, path, f"torch.nn.{name}"
    return None, None, None


def shape_of(node):
    """Of the tensor that comes out; `None` where something else does."""
    value = node.meta.get("val")
    shape = getattr(value, "shape", None)
    return None if shape is None else [int(size) for size in shape]
