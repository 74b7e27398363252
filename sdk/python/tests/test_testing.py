"""The stand-ins."""

from netquarry_sdk.dedup import Banding, Criterion, Follower, Hashing, Pair, Shingling, SimilarPair
from netquarry_sdk.shim import DefinitionKind
from netquarry_sdk.testing import MemoryBlocks, MemoryIndex, class_descriptions

FILES = {
    "acme/__init__.py": "from .heads import Head as Best\nfrom .deep import deep\n",
    "acme/deep.py": "def deep(): ...\n",
    "acme/registry.py": "MODELS = Registry()\n\ndef register(key=None): ...\n",
    "acme/heads.py": (
        "import torch.nn as nn\nfrom acme.registry import MODELS, register\n\n"
        "@register('head')\nclass Head(nn.Module):\n    '''A head.\n\n    More.'''\n    size = 3\n\n"
        "    def forward(self, x, *more):\n        return nn.functional.relu(x)\n\n"
        "@MODELS.register(name='neck')\nclass Neck(Head): ...\n\n"
        "if True:\n    @register()\n    class Tail(Neck, metaclass=abc.ABCMeta):\n"
        "        def forward(self): ...\n"
    ),
}


def test_definitions_are_found_behind_their_reexports():
    index = MemoryIndex.of_files(FILES)
    definition = index.find("acme.Best")
    assert definition is not None
    assert (definition.path, definition.kind, definition.file) == (
        "acme.heads.Head",
        DefinitionKind.CLASS,
        "acme/heads.py",
    )
    assert (definition.first_line, definition.last_line) == (4, 12)
    source = index.source("acme.Best")
    assert source is not None
    assert source.startswith("@register('head')\nclass Head")
    assert index.find("acme.heads.Missing") is None


def test_a_name_of_a_module_may_be_that_of_what_it_defines():
    index = MemoryIndex.of_files(FILES)
    found = index.find("acme.deep")
    assert found is not None
    assert found.path == "acme.deep.deep"
    assert index.find("acme.deep.nothing") is None


def test_references_and_registrations_resolve():
    index = MemoryIndex.of_files(FILES)
    assert index.references("acme.heads.Head") == (
        "acme.registry.register",
        "torch.nn.Module",
        "torch.nn.functional.relu",
    )
    assert index.registered("acme.registry.register", "head") == ("acme.heads.Head",)
    assert index.registered("acme.registry.MODELS.register", "neck") == ("acme.heads.Neck",)
    assert index.registered("acme.registry.register", "Tail") == ("acme.heads.Tail",)


def test_definitions_can_be_given():
    index = MemoryIndex()
    index.add("acme.Head", "class Head: ...", references=["torch.relu"], registered={"acme.register": "head"})
    assert index.registered("acme.register", "head") == ("acme.Head",)
    assert index.references("acme.Head") == ("torch.relu",)
    assert index.source("acme.Head") == "class Head: ..."


def test_classes_are_described():
    head, neck, tail = class_descriptions(FILES)
    assert (head.path, head.summary, head.attributes) == ("acme.heads.Head", "A head.", ("size",))
    assert (head.bases[0].written, head.bases[0].resolved) == ("nn.Module", "torch.nn.Module")
    assert head.methods[0].parameters == ("self", "x", "more")
    assert head.decorators == ("register",)
    assert (head.subclassed, head.conditional) == (True, False)
    assert [ancestor.path for ancestor in neck.ancestors] == ["acme.heads.Head", "torch.nn.Module"]
    assert (tail.conditional, tail.metaclass, tail.methods[0].stub) == (True, "abc.ABCMeta", True)


def test_memory_blocks_are_simple_to_foresee():
    blocks = MemoryBlocks()
    for name, code in (("A", "f( x y z"), ("B", "f( x y z"), ("C", "f( x y w"), ("D", "g( u")):
        blocks.add(name, code, level=5)
    shingling = Shingling("any", 2)
    banding = Banding(Hashing(), 1, 1)
    near = [Criterion(shingling, 0.5)]
    assert (len(blocks), blocks.total()) == (4, 4)
    assert blocks.summaries()[0].level == 5
    assert blocks.first_equals([0, 1, 2], shingling) == [0, 0, 2]
    assert blocks.candidate_pairs([0, 2], shingling, banding) == [Pair(0, 2)]
    assert blocks.jaccard(0, [1, 2, 3], shingling) == [1.0, 0.5, 0.0]
    assert blocks.similar_groups([0, 1, 2, 3], near) == [[0, 1, 2]]
    assert blocks.leaders([3, 2, 1, 0], near, banding) == [Follower(1, 2, 0.5), Follower(0, 2, 0.5)]
    with blocks.structure_index([0, 2, 3], 0.9) as index:
        found = index.similar([0, 2, 3], 1)
    assert (found.pairs, found.looked_up) == ([SimilarPair(0, 2, 1.0)], 1)
    blocks.remove_last(1)
    assert (len(blocks), len(blocks.summaries())) == (3, 3)
    blocks.move_to(3, 0)
    assert blocks.positions() == [0, 1, 2, 0]
