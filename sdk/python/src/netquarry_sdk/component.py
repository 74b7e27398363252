"""The exports of a component, on one side the bindings and on the other the plugin.

`python -m netquarry_sdk build` generates a module that calls `exports`; nothing else needs this.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from . import log, telling
from .contract import Kind
from .dedup import Blocks, Decisions, DedupStrategy
from .discovery import ClassDescription, DiscoveryRule, Proposal
from .emit import Block, Emission, Emitted, File, SpecEmitter
from .host_blocks import HostBlocks
from .host_index import HostIndex
from .plugin import Plugin, configured
from .refusal import Refusal, RefusalCase
from .shape import ConfigurationError
from .shim import Answer, Question, RepoShim, Resolved, Tables
from .wire import Bindings, Convert, incoming, outgoing

P = TypeVar("P", bound=Plugin)


class Component(Generic[P]):
    """What every world exports. An instance of a component is configured once, before it is asked for
    anything.
    """

    def __init__(self, plugin: type[P], examples: Mapping[str, str], bindings: Bindings) -> None:
        classes = bindings.classes
        self._type = plugin
        self._bindings = bindings
        self._plugin: P | None = None
        self._description = classes["Description"](
            name=plugin.name,
            version=plugin.version,
            kind=classes["Kind"][plugin.kind.name],
            documentation=plugin.documentation(),
            configuration_schema=plugin.configuration_schema(),
            permissions=[
                classes["Permission"](name="read-files", scope=scope, why=why)
                for scope, why in plugin.reads_files.items()
            ],
        )
        self._examples = [classes["Example"](name=name, document=text) for name, text in examples.items()]

    def describe(self) -> Any:
        return self._description

    def examples(self) -> list[Any]:
        return self._examples

    def configure(self, json: str) -> None:
        try:
            self._plugin = configured(self._type, json)
        except ConfigurationError as error:
            raise self._configuration_error(error.pointer, error.message) from None
        # Whatever went further up would end the call without a word.
        except BaseException as error:
            log.error(telling.told(error))
            raise self._configuration_error("", telling.last_line(error)) from None

    def _answered(self, send: Convert, ask: Callable[[P], Any]) -> Any:
        if self._plugin is None:
            raise RuntimeError("the host configures an instance before it calls it")
        try:
            return send(ask(self._plugin))
        except Refusal as refusal:
            raise self._refusal(refusal) from None
        # As above.
        except BaseException as error:
            log.error(telling.told(error))
            raise self._refusal(Refusal(RefusalCase.OTHER, telling.last_line(error))) from None

    def _send(self, hint: Any) -> Convert:
        return outgoing(hint, self._bindings)

    def _refusal(self, refusal: Refusal) -> BaseException:
        case = self._bindings.classes[f"Refusal_{refusal.case.name.capitalize()}"]
        refused: BaseException = self._bindings.error(case(refusal.sentence))
        return refused

    def _configuration_error(self, pointer: str, message: str) -> BaseException:
        error = self._bindings.classes["ConfigurationError"](pointer, message)
        refused: BaseException = self._bindings.error(error)
        return refused


class DiscoveryRuleComponent(Component[DiscoveryRule]):
    def __init__(self, plugin: type[DiscoveryRule], examples: Mapping[str, str], bindings: Bindings) -> None:
        super().__init__(plugin, examples, bindings)
        self._classes = incoming(Sequence[ClassDescription])
        self._proposals = self._send(Sequence[Proposal])

    def discover(self, classes: list[Any]) -> list[Any]:
        answer: list[Any] = self._answered(
            self._proposals, lambda rule: rule.discover(self._classes(classes))
        )
        return answer


class RepoShimComponent(Component[RepoShim]):
    def __init__(self, plugin: type[RepoShim], examples: Mapping[str, str], bindings: Bindings) -> None:
        super().__init__(plugin, examples, bindings)
        self._question = incoming(Question)
        self._tables = self._send(Tables)
        self._resolved = self._send(Resolved)
        self._text = self._send(str)

    def tables(self) -> Any:
        return self._answered(self._tables, lambda shim: shim.tables())

    def answer_dynamic(self, question: Any, index: Any) -> Any:
        return self._answered(
            self._answer, lambda shim: shim.answer(self._question(question), HostIndex(index, self._bindings))
        )

    def _answer(self, answer: Answer) -> Any:
        classes = self._bindings.classes
        if isinstance(answer, Resolved):
            return classes["Answer_Definitions"](self._resolved(answer))
        return classes["Answer_Unknown"](self._text(answer.why))


class DedupStrategyComponent(Component[DedupStrategy]):
    def __init__(self, plugin: type[DedupStrategy], examples: Mapping[str, str], bindings: Bindings) -> None:
        super().__init__(plugin, examples, bindings)
        self._decisions = self._send(Decisions)

    def deduplicate(self, blocks: Any) -> Any:
        seen: Blocks = HostBlocks(blocks, self._bindings)
        return self._answered(self._decisions, lambda strategy: strategy.deduplicate(seen))


class SpecEmitterComponent(Component[SpecEmitter]):
    def __init__(self, plugin: type[SpecEmitter], examples: Mapping[str, str], bindings: Bindings) -> None:
        super().__init__(plugin, examples, bindings)
        self._block = incoming(Block)
        self._emitted = incoming(Sequence[Emitted])
        self._emission = self._send(Emission)
        self._files = self._send(Sequence[File])

    def emit_block(self, block: Any) -> Any:
        return self._answered(self._emission, lambda emitter: emitter.emit_block(self._block(block)))

    def emit_index(self, blocks: list[Any]) -> list[Any]:
        answer: list[Any] = self._answered(
            self._files, lambda emitter: emitter.emit_index(self._emitted(blocks))
        )
        return answer


_COMPONENTS: dict[Kind, Callable[[Any, Mapping[str, str], Bindings], Component[Any]]] = {
    Kind.DISCOVERY_RULE: DiscoveryRuleComponent,
    Kind.REPO_SHIM: RepoShimComponent,
    Kind.DEDUP_STRATEGY: DedupStrategyComponent,
    Kind.SPEC_EMITTER: SpecEmitterComponent,
}


def exports(plugin: type[Plugin], examples: Mapping[str, str], bindings: Bindings) -> Component[Any]:
    """The functions of the world of the plugin's kind, as methods. `examples` are documents by name."""
    return _COMPONENTS[plugin.kind](plugin, examples, bindings)
