"""The levels of validation, each one step further than the one before."""

import ast
import importlib.machinery
import importlib.util
import keyword
import os
import sys
import symtable

from netquarry_worker import arguments, inputs, memory, randomness, report, sites
from netquarry_worker.constructions import Constructions, sized

# Of so many instances a forward pass is tried.
INSTANCES = 12


class ClassMissing(Exception):
    """The bundle ran and did not bind the name of its block."""


class NotAModuleClass(Exception):
    """The name of the block is bound to something else than a class derived from `torch.nn.Module`."""


class NoGradient(Exception):
    """A backward pass has nothing to begin with, or reaches no parameter."""


class NotApplicable(Exception):
    """There is nothing that the level could check."""


class BundleLoader(importlib.machinery.SourceFileLoader):
    """Loads a file whose code object is there already."""

    def __init__(self, name, path, code):
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname):
        return self._code


class Bundle:
    """What is known of the bundle so far; each level adds to it."""

    def __init__(self, job):
        self.path = job["file"]
        self.class_name = job["class_name"]
        self.given = job["arguments"]
        # What upstream gives to the class somewhere.
        self.suggested = job["suggested"]
        # Where others construct the class.
        self.sites = job["sites"]
        with open(self.path, "rb") as file:
            self.source = file.read()
        self.code = None
        self.block = None
        # Where instances come from, the current one, and the expressions that made it.
        self.constructions = None
        self.model = None
        self.constructor_arguments = {}
        # The expressions that made a forward pass.
        self.forward_arguments = None
        # What has been told of the levels that were passed.
        self.evidence = {}
        # Tells the host whether instances are made with arguments, when that changes.
        self.announce = None


def climb(bundle, highest, reporter, look):
    """Reports `passed`, `failed`, `undecided` or `inapplicable` for every level up to the highest asked for; stops at the
    first that failed or stayed undecided. `look` notes before each report what the bundle has changed."""
    bundle.announce = Announcement(reporter)
    for level, step in LEVELS:
        try:
            randomness.seed()
            try:
                evidence = step(bundle)
            finally:
                # Nothing of it has run before it was compiled.
                if bundle.code is not None:
                    look()
        except arguments.NotFound as reason:
            described = report.describe(reason.error) if reason.error is not None else None
            reporter.send("undecided", level=level, note=reason.note, exception=described, guessed=reason.guessed)
            return
        except NotApplicable:
            reporter.send("inapplicable", level=level)
        except memory.Short:
            raise
        except BaseException as error:  # SystemExit and KeyboardInterrupt are no `Exception`s.
            memory.look_at(error)
            reporter.send("failed", level=level, exception=explain(error, bundle))
            return
        else:
            bundle.evidence |= evidence
            reporter.send("passed", level=level, evidence=evidence)
        if level == highest:
            return


class Announcement:
    """Whether instances are made with arguments, told when it changes: what ends a child cannot be told behind it."""

    def __init__(self, reporter):
        self.reporter = reporter
        self.last = None

    def __call__(self, with_arguments):
        if with_arguments != self.last:
            self.last = with_arguments
            self.reporter.send("constructing", with_arguments=with_arguments)


def explain(error, bundle):
    described = report.describe(error)
    if isinstance(error, NameError) and described["name"] and bundle.code is not None:
        table = symtable.symtable(bundle.source, bundle.path, "exec")
        # A name that the bundle binds further down: the order is wrong, not the closure.
        described["bound_in_bundle"] = described["name"] in table.get_identifiers() and (
            table.lookup(described["name"]).is_assigned() or table.lookup(described["name"]).is_imported()
        )
    return described


def parse(bundle):
    """What compiles parses: a tree, which costs more, is made only of what does not."""
    try:
        compile_(bundle)
    except Exception:
        ast.parse(bundle.source, bundle.path)
    return {}


def compile_(bundle):
    if bundle.code is None:
        bundle.code = compile(bundle.source, bundle.path, "exec", dont_inherit=True)
    return {}


def execute(bundle):
    """Imports the bundle as a module of its own name, from its file: `inspect` and `torch.jit` read the source."""
    import torch

    name = module_name(bundle.path)
    loader = BundleLoader(name, bundle.path, bundle.code)
    spec = importlib.util.spec_from_file_location(name, bundle.path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    block = vars(module).get(bundle.class_name)
    if block is None:
        raise ClassMissing(f"the bundle ran and did not define {bundle.class_name!r}")
    if not isinstance(block, type):
        raise NotAModuleClass(f"{bundle.class_name!r} is not a class but of type {type(block).__name__!r}")
    if not issubclass(block, torch.nn.Module):
        raise NotAModuleClass(f"the class {bundle.class_name!r} does not derive from torch.nn.Module")
    bundle.block = block
    return {}


def module_name(path):
    """The stem of the file, unless that is no identifier or the name of a module that is loaded or builtin."""
    stem = os.path.basename(path).partition(".")[0]
    taken = stem in sys.modules or stem in sys.stdlib_module_names
    if stem.isidentifier() and not keyword.iskeyword(stem) and not taken:
        return stem
    return "bundle_" + "".join(letter if letter.isalnum() else "_" for letter in stem)


def construct(bundle):
    given = bundle.given["constructor"] if bundle.given else {}
    suggested = bundle.suggested["constructor"] if bundle.suggested else {}
    found = sites.of_block(bundle.block, bundle.sites)
    bundle.constructions = Constructions(bundle.block, given, randomness.seed, bundle.announce, suggested, found)
    bundle.model, bundle.constructor_arguments = bundle.constructions.next()
    return evidence_of_instance(bundle)


def evidence_of_instance(bundle):
    site = bundle.constructions.site()
    return {
        "constructor_arguments": bundle.constructor_arguments,
        # Without arguments it tells of none.
        "call_site": site.place if site and site.constructor else None,
        "parameters": sum(parameter.numel() for parameter in sized(bundle.model)),
    }


def forward(bundle):
    """Runs a forward pass; where the instance takes none, of another one."""
    import torch

    if type(bundle.model).forward is torch.nn.Module.forward:
        raise arguments.NotFound("the block has no forward method")
    given = bundle.given["forward"] if bundle.given else {}
    first = None
    tries = inputs.TRIES
    for _ in range(INSTANCES + len(bundle.constructions.sites)):
        suggested = suggested_inputs(bundle)
        try:
            constructor = bundle.constructor_arguments
            evidence = inputs.run_forward(bundle.model, constructor, given, randomness.seed, tries, suggested)
        except arguments.NotFound as reason:
            first = first or reason
            tries = inputs.TRIES_OF_LATER
            another_instance(bundle, first, reason.error)
            continue
        bundle.forward_arguments = evidence["forward_arguments"]
        return {**evidence, **evidence_of_instance(bundle)}
    raise first


def suggested_inputs(bundle):
    """What upstream gives to the class somewhere, or the example that made the instance to that; `None` for neither."""
    site = bundle.constructions.site()
    return bundle.suggested["forward"] if bundle.suggested else site and site.forward


def another_instance(bundle, first, error):
    """Makes the next instance; where there is none, it stays with what is known of the `first` one."""
    # One at a time: they may be large.
    bundle.model = None
    try:
        bundle.model, bundle.constructor_arguments = bundle.constructions.next(error)
    except arguments.NotFound:
        raise first from None


def backward(bundle):
    """Repeats the forward pass with gradients, and asks for those of the sum of all that comes out."""
    import torch

    trained = [parameter for parameter in bundle.model.parameters() if parameter.requires_grad]
    if not trained:
        raise NotApplicable("there are no parameters that a gradient could reach")
    try:
        output = inputs.repeat_forward(bundle.model, bundle.forward_arguments)
        floating = [tensor for _, tensor in inputs.tensors_in(output, "") if tensor.requires_grad]
        if not floating:
            raise NoGradient("the output does not depend on parameters in a way that has a gradient")
        sum(torch.view_as_real(tensor).sum() if tensor.is_complex() else tensor.sum() for tensor in floating).backward()
        reached = sum(parameter.grad is not None for parameter in trained)
        if not reached:
            raise NoGradient("no gradient reached a parameter")
    except Exception as error:
        memory.look_at(error)
        if bundle.given or arguments.no_fault_of_arguments(error):
            raise
        # Another input might take another path through the block.
        note = "no backward pass was possible with inputs that were guessed"
        raise arguments.NotFound(note, error, guessed=True) from error
    return {"gradient": {"trained": len(trained), "reached": reached}}


LEVELS = (
    ("parse", parse),
    ("compile", compile_),
    ("execute", execute),
    ("construct", construct),
    ("forward", forward),
    ("backward", backward),
)
