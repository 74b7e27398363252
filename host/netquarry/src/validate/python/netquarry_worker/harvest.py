"""Arguments as upstream itself gives them: calls functions of upstream's module that need none, such as `resnet18()`, and
tells with which arguments the module's classes were constructed and run on the way.

What is told are expressions, as all arguments are. A value that no expression stands for (an open file, a lambda) is left
away where the parameter has a default; otherwise the instance is not told of.
"""

import collections
import enum
import functools
import importlib
import inspect
import types

from netquarry_worker import arguments, constructions, inputs, randomness

# How many functions and classes are called for one class, and for all classes of a module.
CALLS_FOR_ONE = 2
CALLS = 10
# Of the instances of a class, in the order in which they are made.
INSTANCES = 4
# How many inputs are tried for what a function gives, and how many constructions of a class are.
TRIES = 24
# Longer expressions are of whole networks.
LONGEST = 20_000
DEPTH = 6
ELEMENTS = 1 << 22


def run(job, reporter):
    """Reports what was found as `harvested`, a class at a time."""
    module = importlib.import_module(job["harvest"])
    for class_name, found in Harvest(module).run():
        reporter.send("harvested", class_name=class_name, **found)


class Harvest:
    def __init__(self, module):
        import torch

        self.module = module
        own = [value for value in vars(module).values() if is_of(value, module)]
        self.blocks = [value for value in own if isinstance(value, type) and issubclass(value, torch.nn.Module)]
        self.uses = Uses(module)
        self.makers = makers(own)
        self.recorder = Recorder(module, self.blocks)
        self.called = set()

    def run(self):
        """The name of each class of which an instance was seen, with what made the one that ran, or else the first."""
        self.recorder.install()
        draw_no_parameters()
        for block in self.blocks:
            makers = [maker for maker in self.makers if maker is not block and block in self.uses.of(maker)]
            for maker in makers[:CALLS_FOR_ONE]:
                if self.recorder.has_run(block) or len(self.called) == CALLS:
                    break
                self.call(maker)
        for block in self.blocks:
            if found := self.recorder.best(block) or self.of_another(block):
                yield block.__name__, found

    def of_another(self, block):
        """What another block was given that has parameters of all the names that this one needs: a backbone that gives its
        features takes what the whole network does."""
        names = {parameter.name for parameter in arguments.signature(block)}
        needed = {parameter.name for parameter in arguments.signature(block) if arguments.is_required(parameter)}
        for other in self.blocks if needed else ():
            found = self.recorder.best(other)
            if found and needed <= found["constructor"].keys():
                kept = {name: text for name, text in found["constructor"].items() if name in names}
                return found | {"constructor": kept}
        return None

    def call(self, maker):
        """Lets the recorder see what a function or class makes."""
        import torch

        if maker in self.called:
            return
        self.called.add(maker)
        self.recorder.source = f"{maker.__name__}()"
        randomness.seed()
        try:
            with torch.no_grad():
                self.run_once(maker)
        except Exception:
            pass  # It tells of no more than it has come to.
        self.recorder.release()

    def run_once(self, maker):
        import torch

        if isinstance(maker, type):
            made = constructions.Constructions(maker, {}, randomness.seed)
            made.limit = TRIES
            model, expressions = made.next()
        else:
            model, expressions = maker(), {}
        if isinstance(model, torch.nn.Module):
            inputs.run_forward(model, expressions, {}, randomness.seed, TRIES)


def draw_no_parameters():
    """Drawing the parameters of a large network takes longer than all else, and nobody looks at them here."""
    import torch

    for name in ("normal_", "uniform_"):
        setattr(torch.Tensor, name, lambda tensor, *_, **__: tensor.zero_())
    torch.Tensor.erfinv_ = lambda tensor: tensor


def is_of(value, module):
    return isinstance(value, type | types.FunctionType) and getattr(value, "__module__", None) == module.__name__


def makers(values):
    """Functions that can be called without arguments, and then blocks, each with the shortest names first: they are the
    plainest of their kind."""
    import torch

    def is_fit(value):
        return issubclass(value, torch.nn.Module) if isinstance(value, type) else needs_nothing(value)

    return sorted(filter(is_fit, values), key=lambda value: (isinstance(value, type), len(value.__name__), value.__name__))


def needs_nothing(function):
    return not any(map(arguments.is_required, arguments.signature(function)))


class Uses:
    """Which of a module's own functions and classes each of them names, directly or through others."""

    def __init__(self, module):
        self.module = module
        self.named = {name: list(definitions_in(value, module)) for name, value in vars(module).items()}
        self.known = {}

    def of(self, value):
        if value not in self.known:
            found = set()
            waiting = [value]
            while waiting:
                user = waiting.pop()
                names = {name for code in codes_of(user) for name in names_in(code)}
                further = {each for name in names for each in self.named.get(name, [])}
                further |= {base for base in getattr(user, "__bases__", ()) if is_of(base, self.module)}
                further -= found
                found |= further
                waiting.extend(further)
            self.known[value] = found
        return self.known[value]


def definitions_in(value, module, depth=0):
    """The module's own functions and classes that a global variable holds: as itself, or in a table."""
    if is_of(value, module):
        yield value
    elif isinstance(value, dict | list | tuple) and depth < 2:
        for item in value.values() if isinstance(value, dict) else value:
            yield from definitions_in(item, module, depth + 1)


def codes_of(value):
    members = vars(value).values() if isinstance(value, type) else [value]
    for member in members:
        function = inspect.unwrap(getattr(member, "__func__", member))
        if isinstance(function, types.FunctionType):
            yield function.__code__


def names_in(code):
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_in(constant)


# An object, so that nothing else gets its number; the expression that makes one like it; and, by block, what is told of it.
Made = collections.namedtuple("Made", "instance, expression, found")


class Recorder:
    """Notes how objects are made, and how the blocks of a module are run."""

    def __init__(self, module, blocks):
        self.module = module
        # By the number of an object.
        self.made = {}
        # By block, what its own constructor and forward pass were given, and whether that was for an instance of the block
        # itself: it may have been for one of a class that derives from it.
        self.found = {block: [] for block in blocks}
        self.source = None

    def install(self):
        import torch

        for each in {*descendants(torch.nn.Module), *self.plain_classes()}:
            if "__init__" in vars(each):
                self.wrap_constructor(each)
        for block in self.found:
            if "forward" in vars(block):
                self.wrap_forward(block)

    def plain_classes(self):
        """Classes of whose instances a constructor may take one: configurations, and the like."""
        classes = (value for value in vars(self.module).values() if isinstance(value, type))
        others = (each for each in classes if not issubclass(each, BaseException))
        return (each for each in others if not each.__module__.startswith("torch."))

    def wrap_constructor(self, owner):
        original = vars(owner)["__init__"]
        if not isinstance(original, types.FunctionType):
            return
        signature = inspect.signature(original)

        @functools.wraps(original)
        def constructor(instance, *positional, **named):
            # A constructor calls those of its bases.
            is_outermost = id(instance) not in self.made
            if is_outermost:
                self.made[id(instance)] = Made(instance, None, {})
            is_told = is_outermost or owner in self.found
            # Before it may change what it is given.
            given = self.expressions(signature, (instance, *positional), named) if is_told else None
            result = original(instance, *positional, **named)
            if given is not None:
                self.note(owner, instance, given, is_outermost)
            return result

        owner.__init__ = constructor

    def note(self, owner, instance, given, is_outermost):
        if is_outermost:
            listed = ", ".join(f"{name}={text}" for name, text in given.items())
            made = self.made[id(instance)]
            self.made[id(instance)] = made._replace(expression=self.called_by_name(type(instance), listed))
        blocks = {owner, type(instance)} if is_outermost else {owner}
        for block in blocks & self.found.keys():
            if len(self.found[block]) < INSTANCES:
                found = {"constructor": given, "forward": None, "source": self.source}
                self.found[block].append((type(instance) is block, found))
                self.made[id(instance)].found[block] = found

    def wrap_forward(self, owner):
        original = vars(owner)["forward"]
        if not isinstance(original, types.FunctionType):
            return
        signature = inspect.signature(original)

        @functools.wraps(original)
        def forward(instance, *positional, **named):
            made = self.made.get(id(instance))
            told = {block: made.found[block] for block in {owner, type(instance)} & made.found.keys()} if made else {}
            waiting = [found for found in told.values() if found["forward"] is None]
            given = self.expressions(signature, (instance, *positional), named) if waiting else None
            result = original(instance, *positional, **named)
            for found in waiting:
                found["forward"] = given
            return result

        owner.forward = forward

    def release(self):
        """Forgets all objects, which may be large, and keeps what is told of them."""
        self.made.clear()

    def has_run(self, block):
        return any(found["forward"] is not None for _, found in self.found[block])

    def best(self, block):
        """Of one that has run, if any has, and of an instance of the block itself, if there is one of these."""
        best = max(self.found[block], key=lambda each: (each[1]["forward"] is not None, each[0]), default=None)
        return best and best[1]

    def expressions(self, signature, positional, named):
        """Expressions by parameter; `None` where one that is needed has none."""
        try:
            bound = signature.bind(*positional, **named)
        except TypeError:
            return None
        found = {}
        for parameter in list(signature.parameters.values())[1:]:
            if parameter.name not in bound.arguments:
                continue
            value = bound.arguments[parameter.name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                return None  # There is no name to give them under.
            pairs = value.items() if parameter.kind is parameter.VAR_KEYWORD else [(parameter.name, value)]
            for name, each in pairs:
                text = self.expression(each)
                if text is not None:
                    found[name] = text
                elif arguments.is_required(parameter):
                    return None
        return found

    def expression(self, value, depth=0):
        """What makes a value like this one; `None` where nothing short does."""
        import torch

        text = None
        if value is None or type(value) in (bool, int, float, str):
            text = repr(value)
        elif isinstance(value, torch.dtype):
            text = str(value)
        elif isinstance(value, torch.Tensor):
            text = tensor(value)
        elif isinstance(value, enum.Enum):
            text = self.attribute_of(type(value), value.name)
        elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            text = self.name_of(value)
        elif id(value) in self.made:
            text = self.made[id(value)].expression
        elif depth < DEPTH:
            text = self.compound(value, depth + 1)
        return text if text is None or len(text) <= LONGEST else None

    def compound(self, value, depth):
        if isinstance(value, list | tuple | dict | functools.partial):
            items = [*value.args, *value.keywords.values()] if isinstance(value, functools.partial) else value
            items = [*items, *items.values()] if isinstance(items, dict) else list(items)
            texts = [self.expression(item, depth) for item in items]
            if any(text is None for text in texts):
                return None
        match value:
            case list():
                return f"[{', '.join(texts)}]"
            case tuple():
                return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
            case dict():
                half = len(texts) // 2
                return f"{{{', '.join(map(': '.join, zip(texts[:half], texts[half:])))}}}"
            case functools.partial():
                named = len(texts) - len(value.keywords)
                texts[named:] = map("=".join, zip(value.keywords, texts[named:]))
                function = self.name_of(value.func)
                return function and f"functools.partial({', '.join([function, *texts])})"
        return None

    def called_by_name(self, called, listed):
        name = self.name_of(called)
        return name and f"{name}({listed})"

    def attribute_of(self, owner, attribute):
        name = self.name_of(owner)
        return name and f"{name}.{attribute}"

    def name_of(self, value):
        """How the module names a class or function: by a name of its own, or as torch does."""
        import torch

        name, home = getattr(value, "__name__", ""), getattr(value, "__module__", None) or ""
        if home == "builtins":
            return name
        if getattr(torch.nn, name, None) is value:
            return f"nn.{name}"
        if home.partition(".")[0] == "torch" and name.isidentifier():
            return f"{home}.{name}"
        own = (each for each, member in vars(self.module).items() if member is value)
        is_global = name.isidentifier() and "<locals>" not in getattr(value, "__qualname__", "")
        return next(own, name if is_global else None)


def descendants(owner):
    for each in owner.__subclasses__():
        yield each
        yield from descendants(each)


def tensor(value):
    """One of the same shape and type, with other values."""
    import torch

    shape = tuple(value.shape)
    if value.numel() > ELEMENTS or value.layout is not torch.strided:
        return None
    if value.dtype is torch.float32:
        return f"torch.randn({shape})"
    if value.dtype.is_floating_point:
        return f"torch.randn({shape}).to({value.dtype})"
    return f"torch.{'ones' if value.dtype is torch.bool else 'zeros'}({shape}, dtype={value.dtype})"
