"""Holds message passing without template files against torch_geometric's, which writes its propagation out of them.

Arguments: the folder of shim-torch-geometric, and a folder that holds torch_geometric and xxhash.
"""

import copy
import pathlib
import sys
import warnings

import torch
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Absent, Shim, Story, same  # noqa: E402

SHIM = Shim(sys.argv[1])
sys.path.insert(0, sys.argv[2])
Absent("aiohttp", "psutil", "pyparsing", "requests", "tqdm").install()
warnings.simplefilter("ignore")

from torch_geometric.nn import conv  # noqa: E402
from torch_geometric.nn.conv import MessagePassing  # noqa: E402

TEMPLATES = "torch_geometric.nn.conv.message_passing.MessagePassing._set_jittable_templates"
NODES = 6
EDGES = torch.tensor([[0, 1, 1, 2, 3, 4, 5, 5, 0, 2], [1, 0, 2, 1, 4, 3, 0, 2, 5, 2]])

LAYERS = {
    "GCNConv": lambda new: new(4, 4),
    "ChebConv": lambda new: new(4, 4, K=2),
    "SAGEConv": lambda new: new(4, 4, aggr=["mean", "max"]),
    "GraphConv": lambda new: new(4, 4, aggr="max"),
    "GATConv": lambda new: new(4, 4, heads=2, edge_dim=3),
    "GATv2Conv": lambda new: new(4, 4, heads=2, edge_dim=3),
    "TransformerConv": lambda new: new(4, 4, heads=2, edge_dim=3),
    "GINConv": lambda new: new(nn.Linear(4, 4)),
    "GINEConv": lambda new: new(nn.Linear(4, 4), edge_dim=3),
    "NNConv": lambda new: new(4, 4, nn.Linear(3, 16)),
    "CGConv": lambda new: new(4, dim=3),
    "GENConv": lambda new: new(4, 4, aggr="softmax", edge_dim=3),
    "EdgeConv": lambda new: new(nn.Linear(8, 4)),
    "PNAConv": lambda new: new(4, 4, ["mean", "std"], ["identity", "linear"], torch.tensor([0, 2, 4]), edge_dim=3),
    "APPNP": lambda new: new(2, 0.1),
    "SGConv": lambda new: new(4, 4, K=2),
    "LEConv": lambda new: new(4, 4),
}


class Weighted(MessagePassing):
    def message(self, x_j, edge_weight=None):
        return x_j if edge_weight is None else edge_weight.view(-1, 1) * x_j

    def forward(self, x, edge_index, edge_weight=None, size=None):
        return self.propagate(edge_index, x=x, edge_weight=edge_weight, size=size)


class Updated(MessagePassing):
    def forward(self, x, edge_index, edge_weight=None):
        weight = self.edge_updater(edge_index, x=x)
        return self.propagate(edge_index, x=x, weight=weight)

    def edge_update(self, x_i, x_j):
        return (x_i * x_j).sum(-1, keepdim=True)

    def message(self, x_j, weight):
        return weight * x_j

    def update(self, inputs, x):
        return inputs + x


class Propagated(Weighted):
    """Has a propagation of its own, for which upstream has no template either."""

    def propagate(self, edge_index, size=None, **kwargs):
        return 2 * MessagePassing.propagate(self, edge_index, size, **kwargs)


def on_side(layer, templates):
    """The class itself, which has upstream's templates, or one that derives from it and has none."""
    if templates is None:
        return layer
    return type(layer.__name__, (layer,), {"_set_jittable_templates": templates})


def outputs(story, layer, *given, **options):
    """Keeps what a layer computes, forwards and backwards."""

    def use():
        inputs = [value.clone().requires_grad_() if value.is_floating_point() else value for value in given]
        result = layer(*inputs, **options)
        result.square().sum().backward()
        gradients = [value.grad for value in (*inputs, *layer.parameters()) if value.grad is not None]
        layer.zero_grad()
        return result.detach(), *gradients

    story.keep(use)


def of_layer(story, layer):
    nodes, attributes, weights = torch.rand(NODES, 4), torch.rand(10, 3), torch.rand(10)
    outputs(story, layer, nodes, EDGES)
    outputs(story, layer, nodes, EDGES, attributes)
    outputs(story, layer, nodes, EDGES, weights)
    outputs(story, copy.deepcopy(layer), nodes, EDGES)
    outputs(story, layer, nodes, torch.sparse_coo_tensor(EDGES.flip(0), weights, (NODES, NODES)).to_sparse_csr())
    outputs(story, layer, nodes, EDGES.float())
    outputs(story, layer, nodes, EDGES[:1])
    hooks = [
        layer.register_propagate_forward_pre_hook(lambda module, given: story.note(lambda: sorted(given[2]))),
        layer.register_message_forward_hook(lambda module, given, result: result + 1),
        layer.register_aggregate_forward_hook(lambda module, given, result: result * 3),
    ]
    outputs(story, layer, nodes, EDGES)
    for hook in hooks:
        hook.remove()
    layer._edge_mask, layer._loop_mask = torch.rand(10), torch.ones(10, dtype=torch.bool)
    for explain in (True, False):
        layer.explain = explain
        outputs(story, layer, nodes, EDGES)
    for parts in (2, 1):
        layer.decomposed_layers = parts
        outputs(story, layer, nodes, EDGES)


def of_layers(templates):
    story = Story()
    for name, make in LAYERS.items():
        layer_class = on_side(getattr(conv, name), templates)
        torch.manual_seed(0)
        layer = make(layer_class)
        assert_side(layer_class, templates is None)
        of_layer(story, layer)
    for upstream in (Weighted, Updated, Propagated):
        layer_class = on_side(upstream, templates)
        ways = ("source_to_target", "sum"), ("target_to_source", "max"), ("source_to_target", ["mean", "std"])
        for flow, aggr in ways:
            torch.manual_seed(0)
            layer = layer_class(aggr=aggr, flow=flow)
            assert_side(layer_class, templates is None and upstream is not Propagated)
            of_layer(story, layer)
            outputs(story, layer, torch.rand(NODES, 4), EDGES, size=(NODES, NODES))
            outputs(story, layer, torch.rand(NODES, 4), EDGES, size=(NODES, 2))
    story.note(lambda: layer._set_jittable_templates(raise_on_error=True))
    return story.lines


def assert_side(layer_class, has_template):
    """That upstream's side does have a propagation from a template, and the other one has none."""
    assert (layer_class._jinja_propagate is not layer_class._orig_propagate) == has_template, layer_class


@SHIM.holds(TEMPLATES)
def set_jittable_templates():
    # The general side first, since a template stays with the class that a general one derives from.
    ours = of_layers(SHIM.define(TEMPLATES))
    same("layers", of_layers(None), ours)


SHIM.run()
