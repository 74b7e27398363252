"""The exports of components, called natively with the classes of the generated bindings."""

from dataclasses import dataclass
from types import MappingProxyType

import pytest

from netquarry_sdk import ConfigurationError, Kind, Refusal, log
from netquarry_sdk.component import exports
from netquarry_sdk.dedup import Decisions, DedupStrategy, Removal, Shingling
from netquarry_sdk.discovery import Category, DiscoveryRule, Proposal
from netquarry_sdk.emit import Emission, File, SpecEmitter
from netquarry_sdk.shim import FileError, RepoShim, Resolved, Tables, Unknown
from netquarry_sdk.testing import block, class_description
from netquarry_sdk.wire import outgoing
from support import bindings


class Rule(DiscoveryRule):
    """Summary.

    More.
    """

    name = "discover-test"
    version = "1.2.3"

    @dataclass
    class Configuration:
        fail: str = ""

    def __init__(self, configuration):
        if configuration.fail == "configure":
            raise KeyError("a fault of the plugin")
        if configuration.fail == "point":
            raise ConfigurationError("/fail", "no")
        super().__init__(configuration)

    def discover(self, classes):
        match self.configuration.fail:
            case "input" | "unsupported" | "host" | "other":
                raise getattr(Refusal, self.configuration.fail)("a sentence")
            case "bug":
                return [][0]
            case "exit":
                raise SystemExit(3)
            case "misfit":
                return [Proposal(-1, Category.LOSS, "x")]
        return [Proposal(index, Category.LOSS, each.name) for index, each in enumerate(classes)]


@pytest.fixture
def logged(monkeypatch):
    messages = []
    monkeypatch.setattr(log, "_sink", lambda level, message: messages.append((level, message)))
    return messages


def rule(json="{}"):
    component = exports(Rule, {"case": "{}"}, bindings(Kind.DISCOVERY_RULE))
    component.configure(json)
    return component


def failure(call, *arguments):
    with pytest.raises(bindings(Kind.DISCOVERY_RULE).error) as caught:
        call(*arguments)
    return caught.value.value


def test_a_component_describes_itself():
    component = exports(Rule, {"case": "{}"}, bindings(Kind.DISCOVERY_RULE))
    description = component.describe()
    assert (description.name, description.version) == ("discover-test", "1.2.3")
    assert description.kind.name == "DISCOVERY_RULE"
    assert description.documentation == "Summary.\n\nMore."
    assert '"fail": {"type": "string"' in description.configuration_schema
    assert [(example.name, example.document) for example in component.examples()] == [("case", "{}")]


def test_a_rule_answers():
    sent = outgoing(type(class_description()), bindings(Kind.DISCOVERY_RULE))(class_description("Head"))
    (proposal,) = rule().discover([sent])
    assert (proposal.index, proposal.category.name, proposal.reason) == (0, "LOSS", "Head")


@pytest.mark.parametrize("case", ["input", "unsupported", "host", "other"])
def test_a_refusal_is_the_contracts(case, logged):
    refusal = failure(rule(f'{{"fail": "{case}"}}').discover, [])
    assert (type(refusal).__name__, refusal.value) == (f"Refusal_{case.capitalize()}", "a sentence")
    assert logged == []


@pytest.mark.parametrize(
    ("fail", "sentence"),
    [
        ("bug", "IndexError: list index out of range"),
        ("exit", "SystemExit: 3"),
        (
            "misfit",
            "MisfitError: [0].index: an integer from 0 to 4294967295 is expected, and this is -1",
        ),
    ],
)
def test_any_other_exception_is_logged_and_told(fail, sentence, logged):
    refusal = failure(rule(f'{{"fail": "{fail}"}}').discover, [])
    assert (type(refusal).__name__, refusal.value) == ("Refusal_Other", sentence)
    ((level, message),) = logged
    assert level is log.Level.ERROR
    assert message.endswith(sentence)
    assert "in Component._answered" in message or "_answered" in message


def test_a_refused_configuration_is_the_contracts(logged):
    error = failure(rule, '{"fail": "point"}')
    assert (error.pointer, error.message) == ("/fail", "no")
    assert logged == []


def test_a_fault_while_configuring_is_logged_and_told(logged):
    error = failure(rule, '{"fail": "configure"}')
    assert (error.pointer, error.message) == ("", "KeyError: 'a fault of the plugin'")
    assert len(logged) == 1


class Shim(RepoShim):
    """A test."""

    name = "shim-test"
    version = "0.1.0"

    def tables(self):
        return Tables(packages=["acme"])

    def answer(self, question, index):
        found = index.registered("acme.register", question.literals[0])
        return Resolved(found, "registered") if found else Unknown("nothing is")


class HostIndex:
    def registered(self, registry, key):
        return ["acme.Head"] if key == "head" else []


def test_a_shim_answers():
    known = bindings(Kind.REPO_SHIM)
    component = exports(Shim, {}, known)
    component.configure("{}")
    assert component.tables().packages == ["acme"]

    def ask(key):
        question = known.classes["Question"]("acme.build", "acme.Model", f"build({key!r})", [key])
        return component.answer_dynamic(question, HostIndex())

    assert ask("head") == known.classes["Answer_Definitions"](
        known.classes["Resolved"](["acme.Head"], "registered")
    )
    assert ask("neck") == known.classes["Answer_Unknown"]("nothing is")


class Reader(RepoShim):
    """A test."""

    name = "shim-reader"
    version = "0.1.0"
    reads_files = MappingProxyType({"acme/*.txt": "they name the parts"})

    def tables(self):
        return Tables()

    def answer(self, question, index):
        try:
            return Resolved(index.files("acme"), index.read_file("acme", question.name).decode())
        except FileError as error:
            return Unknown(f"{error.case.name} {error}")


def test_a_shim_asks_for_files_and_reads_them():
    known = bindings(Kind.REPO_SHIM)
    classes = known.classes

    class HostFiles:
        def files(self, source):
            return [f"{source}/parts.txt"]

        def read_file(self, source, path):
            errors = {"missing": classes["FileError_Missing"](), "broken": classes["FileError_Other"]("torn")}
            if path in errors:
                raise known.error(errors[path])
            return b"norm"

    component = exports(Reader, {}, known)
    (permission,) = component.describe().permissions
    assert (permission.name, permission.scope, permission.why) == (
        "read-files",
        "acme/*.txt",
        "they name the parts",
    )
    component.configure("{}")

    def ask(name):
        return component.answer_dynamic(classes["Question"](name, "acme.Model", "make()", []), HostFiles())

    resolved = classes["Resolved"](["acme/parts.txt"], "norm")
    assert ask("parts.txt") == classes["Answer_Definitions"](resolved)
    assert ask("missing") == classes["Answer_Unknown"]("MISSING missing: missing")
    assert ask("broken") == classes["Answer_Unknown"]("OTHER broken: torn")


class Strategy(DedupStrategy):
    """A test."""

    name = "dedup-test"
    version = "0.1.0"

    def deduplicate(self, blocks):
        firsts = blocks.first_equals(range(len(blocks)), Shingling("class", 3))
        with blocks.structure_index([0, 1], 0.5) as index:
            (pair,) = index.similar([0], 10).pairs
        return Decisions([Removal(1, firsts[1], blocks.summaries()[0].name, pair.similarity)])


class HostBlocks:
    def __init__(self, known):
        self.known = known
        self.released = 0

    def len(self):
        return 2

    def summaries(self, start, count):
        summary = self.known.classes["BlockSummary"]("a:b", "b", "a", -1, 3, None, 5, "00")
        return [summary] * count

    def first_equals(self, members, shingling):
        if shingling.normalisation != "class":
            raise self.known.error("no such normalisation")
        return [0] * len(members)

    def structure_index(self, members, threshold):
        return self

    def similar(self, blocks, most):
        pair = self.known.classes["SimilarPair"](0, 1, 0.75)
        return self.known.classes["SimilarBlocks"]([pair], 1)

    def __exit__(self, *_):
        self.released += 1


def test_a_strategy_decides():
    known = bindings(Kind.DEDUP_STRATEGY)
    component = exports(Strategy, {}, known)
    component.configure("{}")
    host = HostBlocks(known)
    decisions = component.deduplicate(host)
    assert decisions.removals == [known.classes["Removal"](1, 0, "b", 0.75)]
    assert decisions.restorations == []
    assert host.released == 1


def test_what_a_kernel_refuses_is_a_refusal_of_the_host():
    known = bindings(Kind.DEDUP_STRATEGY)

    class Odd(Strategy):
        """A test."""

        def deduplicate(self, blocks):
            return Decisions(blocks.first_equals([0], Shingling("odd", 3)))

    component = exports(Odd, {}, known)
    component.configure("{}")
    refusal = failure(component.deduplicate, HostBlocks(known))
    assert (type(refusal).__name__, refusal.value) == ("Refusal_Host", "no such normalisation")


class Emitter(SpecEmitter):
    """A test."""

    name = "emit-test"
    version = "0.1.0"

    def emit_block(self, block):
        return Emission([File.whole(f"{block.name}.txt", "text")], entry=block.id)


def test_an_emitter_emits():
    known = bindings(Kind.SPEC_EMITTER)
    component = exports(Emitter, {}, known)
    component.configure("{}")
    emission = component.emit_block(outgoing(type(block()), known)(block("Head")))
    assert emission.entry == "test:package.module.Head"
    assert [(file.path, file.content, file.placement.name) for file in emission.files] == [
        ("Head.txt", b"text", "WHOLE")
    ]
    assert component.emit_index([]) == []
