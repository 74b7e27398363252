"""Kept calls, made again by CPython."""

import json

import pytest

from netquarry_sdk import Refusal
from netquarry_sdk.dedup import Decisions, DedupStrategy, Hashing, Removal, Shingling
from netquarry_sdk.discovery import Category, DiscoveryRule, Proposal
from netquarry_sdk.emit import SpecEmitter
from netquarry_sdk.replay import KeptCallError, replay
from netquarry_sdk.shim import DefinitionKind, FileError, RepoShim, Resolved, Tables
from support import WIT

KEPT = WIT.parent / "host/netquarry-plugin/tests/kept"
"""Calls as the host keeps them."""


@pytest.fixture
def kept(tmp_path):
    """Writes a kept call and gives its folder."""

    def write(function, arguments=(), host_calls=()):
        calls = [
            {"function": asked, "arguments": given, "answer": answer} for asked, given, answer in host_calls
        ]
        call = {
            "format": 2,
            "function": function,
            "configuration": {},
            "arguments": list(arguments),
            "host_calls": calls,
        }
        (tmp_path / "call.json").write_text(json.dumps(call))
        return tmp_path

    return write


def returned(value):
    return {"returned": value}


class Shim(RepoShim):
    """A test."""

    name = "shim-test"
    version = "0.1.0"

    def tables(self):
        return Tables(packages=["acme"])

    def answer(self, question, index):
        found = index.find(question.referrer)
        assert found.kind is DefinitionKind.CLASS
        text = index.read_file(found.source, "acme/parts.txt").decode()
        return Resolved([text], " ".join(index.files(found.source)))


QUESTION = {"name": "acme.make", "referrer": "acme.Head", "expression": "make('norm')", "literals": ["norm"]}
HEAD = {
    "path": "acme.Head",
    "kind": "Class",
    "source": "acme",
    "file": "acme.py",
    "first_line": 1,
    "last_line": 2,
}


def test_a_shim_is_answered_as_it_was(kept):
    host = [
        ("code-index.find", ["acme.Head"], returned(HEAD)),
        ("code-index.read-file", ["acme", "acme/parts.txt"], returned({"Ok": list(b"acme.Norm")})),
        ("code-index.files", ["acme"], returned(["acme/parts.txt"])),
    ]
    assert replay(Shim, kept("answer-dynamic", [QUESTION], host)) == Resolved(["acme.Norm"], "acme/parts.txt")
    assert replay(Shim, kept("tables")) == Tables(packages=["acme"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("NotPermitted", "not-permitted"),
        ("Missing", "missing"),
        ({"Other": "it is on fire"}, "it is on fire"),
    ],
)
def test_a_file_that_could_not_be_read_cannot_be_read(kept, error, told):
    host = [
        ("code-index.find", ["acme.Head"], returned(HEAD)),
        ("code-index.read-file", ["acme", "acme/parts.txt"], returned({"Err": error})),
    ]
    with pytest.raises(FileError, match=f"acme/parts.txt: {told}"):
        replay(Shim, kept("answer-dynamic", [QUESTION], host))


def test_a_call_that_the_host_kept_is_made_again():
    """A test of the host's holds it to what the file has."""

    class Parts(Shim):
        """A test."""

        def answer(self, question, index):
            source = index.find(question.referrer).source
            with pytest.raises(FileError, match=r"acme/none\.txt: not-permitted"):
                index.read_file(source, "acme/none.txt")
            return Resolved([index.read_file(source, "acme/parts.txt").decode()], question.literals[0])

    assert replay(Parts, KEPT / "shim") == Resolved(["Norm"], "norm")


WHOLE = {"format": 2, "function": "tables", "configuration": {}, "arguments": [], "host_calls": []}
HOST_CALL = {"function": "code-index.find", "arguments": ["a"], "answer": {"returned": None}}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("", "is not a kept call: Expecting value"),
        ('{"format": 2', "is not a kept call: Expecting"),
        ("[]", "is not a kept call: it has no format"),
        ("{}", "is not a kept call: it has no format"),
        ('{"format": true}', "is not a kept call: it has no format"),
        ('{"format": 1}', "is a kept call of format 1, and this SDK reads format 2"),
        (WHOLE | {"function": None}, "is not a kept call: `function` is missing or no `str`"),
        (WHOLE | {"configuration": []}, "is not a kept call: `configuration` is missing or no `dict`"),
        (WHOLE | {"arguments": {}}, "is not a kept call: `arguments` is missing or no `list`"),
        (WHOLE | {"host_calls": [1]}, "is not a kept call: `answer` is missing or no `dict`"),
        (
            WHOLE | {"host_calls": [HOST_CALL | {"answer": {}}]},
            "an answer of the host has neither `returned` nor `trapped`",
        ),
        (
            WHOLE | {"host_calls": None},
            "cannot be made again: what the host answered was too much to be kept",
        ),
        (
            WHOLE | {"function": "answer-dynamic"},
            "the kept call has 0 arguments, and its function has one",
        ),
        (
            WHOLE | {"function": "answer-dynamic", "arguments": [{"name": "acme"}]},
            "the argument of the kept call is none of its function: KeyError\\('referrer'\\)",
        ),
    ],
)
def test_what_is_no_kept_call_is_told(tmp_path, document, told):
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "call.json").write_text(text)
    with pytest.raises(KeptCallError, match=told):
        replay(Shim, tmp_path)


def test_an_answer_that_is_none_is_told(kept):
    host = [("code-index.find", ["acme.Head"], returned(HEAD | {"kind": "Module"}))]
    with pytest.raises(
        KeptCallError, match=r"the kept answer is none of code-index\.find: .*'Module' is no DefinitionKind"
    ):
        replay(Shim, kept("answer-dynamic", [QUESTION], host))


def test_what_was_not_asked_has_no_answer(kept):
    with pytest.raises(KeptCallError, match=r"it asks code-index.find about \['acme.Head'\]"):
        replay(Shim, kept("answer-dynamic", [QUESTION]))
    with pytest.raises(KeptCallError, match="has no function emit-block"):
        replay(Shim, kept("emit-block"))
    with pytest.raises(KeptCallError, match=r"cannot read nowhere/call.json: No such file"):
        replay(Shim, "nowhere")


class Strategy(DedupStrategy):
    """A test."""

    name = "dedup-test"
    version = "0.1.0"

    def deduplicate(self, blocks):
        shingling = Shingling("code", 3)
        first, second = blocks.first_equals(range(len(blocks)), shingling)
        with blocks.structure_index([0, 1], 1) as index:
            (pair,) = index.similar([0], 10).pairs
        assert blocks.structure(0).call_counts == {"Linear": 2}
        with pytest.raises(Refusal, match="no such signature"):
            blocks.signature(0, shingling, Hashing("md5", 128))
        return Decisions([Removal(pair.second, first + second, "alike", pair.similarity)])


def test_a_strategy_is_answered_as_it_was(kept):
    shingling = {"normalisation": "code", "width": 3}
    structure = {"sha256": "", "calls": [], "call_counts": [["Linear", 2]], "hyperparameters": []}
    pairs = [{"first": 0, "second": 1, "similarity": 1.0}]
    host = [
        ("block-set.len", None, returned(2)),
        ("block-set.first-equals", [[0, 1], shingling], returned({"Ok": [0, 0]})),
        ("block-set.structure-index", [[0, 1], 1.0], returned("ab")),
        ("structure-index.similar", ["ab", [0], 10], returned({"pairs": pairs, "looked_up": 1})),
        ("block-set.structure", [0], returned(structure)),
        (
            "block-set.signature",
            [0, shingling, {"family": "md5", "permutations": 128}],
            returned({"Err": "no such signature"}),
        ),
    ]
    answer = replay(Strategy, kept("deduplicate", [{"len": 2, "total": 2}], host))
    assert answer == Decisions([Removal(1, 0, "alike", 1.0)])


def test_rules_and_emitters_are_given_what_they_were(kept):
    class Rule(DiscoveryRule):
        """A test."""

        name = "discover-test"
        version = "0.1.0"

        def discover(self, classes):
            return [Proposal(0, Category.LOSS, classes[0].methods[0].name)]

    class Emitter(SpecEmitter):
        """A test."""

        name = "emit-test"
        version = "0.1.0"

        def emit_block(self, block):
            raise AssertionError("nobody asks for it")

        def emit_index(self, blocks):
            raise ZeroDivisionError(blocks[0].category.name)

    method = {"name": "forward", "parameters": ["self"], "decorators": [], "stub": False}
    description = {
        "name": "Head",
        "path": "acme.Head",
        "module": "acme",
        "source": "acme",
        "file": "acme.py",
        "bases": [{"written": "nn.Module", "resolved": None}],
        "metaclass": None,
        "ancestors": [],
        "methods": [method],
        "decorators": [],
        "attributes": [],
        "references": [],
        "summary": None,
        "conditional": False,
        "subclassed": False,
    }
    assert replay(Rule, kept("discover", [[description]])) == [Proposal(0, Category.LOSS, "forward")]
    emitted = {
        "id": "acme:acme.Head",
        "name": "Head",
        "category": "TransformerBlock",
        "level": 3,
        "paths": [],
        "entry": None,
    }
    with pytest.raises(ZeroDivisionError, match="TRANSFORMER_BLOCK"):
        replay(Emitter, kept("emit-index", [[emitted]]))
