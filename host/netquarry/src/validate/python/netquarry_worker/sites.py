"""What others pass to a block: in calls of its class, in configurations that name it, and in the examples of its docstring.

An argument is taken over where all that it names is there without the code around it. What is left of the others is for
the guesses.
"""

import ast
import collections
import contextlib
import copy
import itertools
import math

from netquarry_worker import arguments, literals

MOST = 8
# Longer expressions are of whole networks.
LONGEST = 2_000
# Of an example's first line.
PROMPT = ">>>"

# Expressions by parameter; those of a forward pass, `None` where none is shown; where it stands; how often the same is
# said; and whether the constructor needs no other arguments.
Site = collections.namedtuple("Site", "constructor, forward, place, count, is_complete")

# What Python raises over a text that is no Python, or that nests deeper than it follows.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)

# What expressions may name whatever a bundle imports.
AT_HAND = {"functools", "torch", "types"}
# Nothing has this name.
UNKNOWN = ast.Name("", ast.Load())

# A call of the class, and one of the instance that it gave.
Example = collections.namedtuple("Example", "constructor, forward")


def of_block(block, told):
    """At most `MOST` of those that the host has `told` of and of the examples: complete ones first, then what is said most
    often."""
    found = {}
    for site in (*in_docstring(block), *elsewhere(block, told)):
        key = tuple(sorted(site.constructor.items()))
        same = found.get(key)
        found[key] = same._replace(count=same.count + site.count, forward=same.forward or site.forward) if same else site
    return sorted(found.values(), key=lambda site: (not site.is_complete, -site.count))[:MOST]


def elsewhere(block, told):
    parameters = arguments.signature(block)
    for each in told:
        # Others wrote it: what Python cannot follow is not held against the block.
        with contextlib.suppress(*UNREADABLE):
            constructor = passed_at(each, parameters, block)
            if constructor:
                yield Site(constructor, None, each["place"], each["count"], is_complete(constructor, parameters))


def passed_at(told, parameters, block):
    """The arguments of one site, by parameter."""
    call = as_call(parsed(told["text"]))
    if told["naming"] is not None:
        call = without(call, told["naming"])
    return bound(only_global(call, told["names"], told["further"]), parameters, block) if call else {}


def parsed(text):
    """The expression that a text is."""
    return ast.parse(text, mode="eval").body


def as_call(tree):
    """A call; `{"type": "Block", "heads": 8}` is `dict(type="Block", heads=8)`."""
    if isinstance(tree, ast.Dict):
        pairs = zip(tree.keys, tree.values)
        named = [ast.keyword(key.value, value) for key, value in pairs if isinstance(key, ast.Constant)]
        return ast.Call(ast.Name("dict", ast.Load()), [], [each for each in named if isinstance(each.arg, str)])
    return tree if isinstance(tree, ast.Call) else None


def without(call, naming):
    """A configuration without the keyword that names the class; `None` where a keyword of that name says something else."""
    keywords = {keyword.arg: keyword for keyword in call.keywords} if call else {}
    named = keywords.pop(naming, None)
    names_class = named is not None and isinstance(named.value, ast.Constant)
    return ast.Call(call.func, [], list(keywords.values())) if names_class else None


def only_global(call, names, further):
    """A call without the arguments that name what only its own function has. In the place of what has an expression in
    `names` stands that, and likewise in these expressions what has one in `further`."""

    def is_global(value):
        return isinstance(value, ast.Starred) or arguments.names_in(value) <= names.keys()

    # What stands behind an argument that goes keeps its place.
    args = [value if is_global(value) else UNKNOWN for value in call.args]
    keywords = [keyword for keyword in call.keywords if is_global(keyword.value)]
    values = Values(further | names)
    used = dict.fromkeys(name for value in (*args, *keywords) for name in arguments.names_in(value) if names.get(name))
    return Inlined({name: values.of(name) for name in used}).visit(ast.Call(call.func, args, keywords))


class Values:
    """The expressions that names stand for, which may use each other."""

    def __init__(self, texts):
        self.texts = texts
        self.known = {}

    def of(self, name, users=()):
        if name not in self.known:
            tree = parsed(self.texts[name])
            if not arguments.names_in(tree) - AT_HAND <= self.texts.keys():
                # It uses what only the function around has.
                tree = UNKNOWN
            others = [each for each in arguments.names_in(tree) if self.texts.get(each) and each not in (*users, name)]
            tree = Inlined({each: self.of(each, (*users, name)) for each in others}).visit(tree)
            self.known[name] = tree if len(ast.unparse(tree)) <= LONGEST else UNKNOWN
        return self.known[name]


class Inlined(ast.NodeTransformer):
    """Expressions in the place of names."""

    def __init__(self, values):
        self.values = values

    def visit_Name(self, node):
        is_known = isinstance(node.ctx, ast.Load) and node.id in self.values
        return copy.deepcopy(self.values[node.id]) if is_known else node


def bound(call, parameters, block):
    """The arguments of a call that are there without the code around it, by parameter."""
    scope = arguments.scope_of(block)
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    named = {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)}
    takes_anything = any(each.kind is each.VAR_KEYWORD for each in parameters)
    plain = itertools.takewhile(lambda each: not isinstance(each, ast.Starred), call.args)
    pairs = [(parameter.name, value) for parameter, value in zip(positional, plain)]
    pairs += [(each.arg, each.value) for each in call.keywords if each.arg and (each.arg in named or takes_anything)]
    known = ((name, value) for name, value in pairs if not arguments.missing(value, scope))
    texts = ((name, ast.unparse(literals.shortened(value, scope))) for name, value in known)
    return {name: text for name, text in texts if len(text) <= LONGEST}


def is_complete(expressions, parameters):
    return all(each.name in expressions for each in parameters if arguments.is_required(each))


def in_docstring(block):
    """The examples with which the class is documented.

    >>> m = Block(64, heads=8)
    >>> m(torch.randn(1, 16, 64))
    """
    parameters, of_forward = arguments.signature(block), arguments.signature(getattr(block, "forward", None))[1:]
    for example in examples(block):
        with contextlib.suppress(*UNREADABLE):
            constructor = whole(example.constructor, parameters, block)
            if constructor is not None:
                # What the authors show is worth more than any number of others.
                forward = example.forward and whole(example.forward, of_forward, block)
                yield Site(constructor, forward, f"the docstring of {block.__name__}", math.inf, True)


def whole(call, parameters, block):
    """All arguments of a call, by parameter; `None` where that cannot be had."""
    found = bound(call, parameters, block)
    is_whole = len(found) == len(call.args) + len(call.keywords) and is_complete(found, parameters)
    return found if is_whole else None


def examples(block):
    """One `Example` for each instance, with the values of the names in it in their place."""
    # What a bundle calls its class may be none.
    shown = Shown(getattr(block, "__name__", ""))
    for statement in statements(block):
        with contextlib.suppress(*UNREADABLE):
            shown.read(statement)
    return shown.examples


class Shown:
    """What the statements of a documentation show of a class, as far as they have been read."""

    def __init__(self, class_name):
        self.class_name = class_name
        self.examples = []
        # The values of names, and which names stand for the instances of which examples.
        self.values = {}
        self.instances = {}

    def read(self, statement):
        target = target_of(statement)
        value = statement.value if target is not None else None
        # The call that an instance is made by, where it is run at once: `Block(64)(torch.randn(1, 64))`.
        run_at_once = set()
        instance = None
        # Whoever calls comes before what is called.
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Call) and called(call.func) == self.class_name:
                run_at_once.add(call.func)
                self.examples.append(Example(self.inlined(call.func), self.inlined(call)))
            elif called(call) == self.class_name and call not in run_at_once:
                instance = len(self.examples) if call is value else None
                self.examples.append(Example(self.inlined(call), None))
            elif (at := self.instances.get(instance_of(call))) is not None and self.examples[at].forward is None:
                self.examples[at] = self.examples[at]._replace(forward=self.inlined(call))
        if target is not None:
            self.bind(target, value, instance)

    def bind(self, target, value, instance):
        self.values.pop(target, None)
        self.instances.pop(target, None)
        if instance is not None:
            self.instances[target] = instance
        elif len(ast.unparse(inlined := self.inlined(value))) <= LONGEST:
            self.values[target] = inlined

    def inlined(self, tree):
        return Inlined(self.values).visit(copy.deepcopy(tree))


def statements(block):
    """Those of the examples in the docstrings of the class and of the methods that it is called through."""
    own = vars(block)
    documentation = [getattr(each, "__doc__", None) for each in (block, own.get("__init__"), own.get("forward"))]
    for text in (text for text in documentation if isinstance(text, str) and PROMPT in text):
        # With it comes Python's debugger: memory of each worker, for the few blocks that show an example.
        import doctest

        try:
            for example in doctest.DocTestParser().get_examples(text):
                yield from ast.parse(example.source).body
        except UNREADABLE:
            pass  # Nobody runs it, and it may be no Python.


def target_of(statement):
    """The one name that a statement binds, if it is such an assignment."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def called(call):
    """The last part of the name of what is called."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def instance_of(call):
    """The name of the instance that a call runs, if it runs one."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="forward"):
            return name
    return None
