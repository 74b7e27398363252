"""Instances of a block: those that need nothing guessed first, then those with the likeliest arguments.

The search is best first. What is tried next depends on the attempts before it alone, never on time, so that a verdict
does not depend on how busy a machine is.
"""

import heapq
import itertools
import re

from netquarry_worker import arguments, guesses, memory, repairs

TRIES = 80
# Of an instance with more parameters than this, fewer are made.
LARGE = 50_000_000
TRIES_OF_LARGE = 10

# How much less likely arguments become by what was changed in them.
REPAIRED = 0.3
# What others pass: all that is needed, or a part beside guesses. Each one after it costs a little more.
COMPLETE_SITE = 0.05
PARTIAL_SITE = 0.35
NEXT_SITE = 0.02
# The first of the other guesses for a parameter; each one after it costs a little more.
ANOTHER_GUESS = 1.0
RANK = 0.1
# Less where the parameter stands on the line that failed.
ON_LINE = 0.5
# Of all sizes together.
OTHER_SIZE = 0.6
OTHER_SIZES = ("96", "256", "32")
SIZE = re.compile(r"\b64\b")
# Beyond this no other guesses are added: they would be of parameters that have nothing to do with the error.
FAR = 3.0


class Constructions:
    """The instances of one block, one after the other."""

    def __init__(self, block, given, seed, announce, suggested=None, sites=()):
        """`given` are arguments that hold; `suggested` those that are tried first; `sites` tell what others pass.
        `announce` is told whenever instances begin or cease to be made without arguments."""
        self.block = block
        self.given = given
        self.seed = seed
        self.announce = announce
        self.parameters = arguments.signature(block)
        self.guesser = guesses.Guesser(block)
        self.takes_anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in self.parameters)
        required = [parameter for parameter in self.parameters if arguments.is_required(parameter)]
        self.required = [parameter for parameter in required if parameter.name not in given]
        # Guesses of parameters, also of those that only an error told about.
        self.guesses = {parameter.name: self.guesser.for_parameter(parameter) for parameter in self.required}
        self.queue = []
        self.order = itertools.count()
        self.tried = set()
        self.tries = 0
        self.sites = [] if given else list(sites)
        self.limit = TRIES + len(self.sites)
        self.first_error = None
        self.last_error = None
        # What the attempt that gave the last instance cost, and was made with.
        self.current = None
        suggested = arguments.in_scope(suggested or {}, block)
        self.first = {name: found[0] for name, found in self.guesses.items()} | suggested | given
        self.push(0.0, self.first)
        for rank, site in enumerate(self.sites):
            cost = COMPLETE_SITE if site.is_complete else PARTIAL_SITE
            self.push(cost + NEXT_SITE * rank, self.first | site.constructor)

    def next(self, error=None):
        """An instance and the expressions that made it. `error` is what a forward pass of the last one raised."""
        if error is not None:
            self.learn_from_forward(error)
        while self.queue and self.tries < self.limit:
            cost, _, expressions = heapq.heappop(self.queue)
            self.tries += 1
            self.announce(with_arguments=bool(expressions))
            try:
                self.seed()
                model = arguments.call(self.block, self.parameters, expressions)
            except Exception as failure:
                memory.look_at(failure)
                self.learn(failure, cost, expressions)
                continue
            self.current = (cost, expressions)
            if sum(parameter.numel() for parameter in sized(model)) > LARGE:
                self.limit = min(self.limit, self.tries + TRIES_OF_LARGE)
            return model, expressions
        what = "no arguments were found that the constructor takes"
        note = arguments.not_found(what, self.tries, self.last_error, self.first_error)
        raise arguments.NotFound(note, self.first_error, guessed=bool(self.required))

    def site(self):
        """The one that says the most of the arguments of the last instance that was no guess before; `None` where no site
        has any of them."""
        _, expressions = self.current

        def told(site):
            return len((site.constructor.items() & expressions.items()) - self.first.items())

        like = [site for site in self.sites if told(site) or site.constructor.items() <= expressions.items()]
        return max(like, key=lambda site: (told(site), len(site.constructor)), default=None)

    def learn(self, error, cost, expressions):
        """What to try instead of arguments that a constructor refused."""
        nothing_to_change = not self.parameters and not self.guesses
        if arguments.no_fault_of_arguments(error) or nothing_to_change or self.is_given(expressions):
            raise error
        self.first_error = self.first_error or error
        self.last_error = error
        self.guesser.look_at_source(error)
        for name in self.guesses.keys() & self.guesser.literals.keys():
            self.guesses[name] = tuple(dict.fromkeys((*self.guesser.literals[name], *self.guesses[name])))
        suggested = repairs.of_constructor(error, expressions, self.parameters, self.guesser)
        for repaired in suggested:
            for name in repaired.keys() - expressions.keys():
                self.guesses.setdefault(name, self.guesser.for_name(name))
            self.push(cost + REPAIRED, repaired)
        self.push_other_sizes(cost, expressions)
        on_line = repairs.names_on_failing_lines(error, self.block)
        self.push_other_guesses(cost, expressions, on_line)

    def learn_from_forward(self, error):
        cost, expressions = self.current
        for repaired in repairs.of_forward(error, expressions, self.parameters, self.guesser):
            self.push(cost + REPAIRED, repaired)
        self.push_other_sizes(cost, expressions)
        self.push_other_guesses(cost + ANOTHER_GUESS, expressions, repairs.names_on_failing_lines(error, self.block))

    def push_other_sizes(self, cost, expressions):
        """One size for all that have one: divisible by three, by more heads, or as wide as a bottleneck is."""
        for rank, size in enumerate(OTHER_SIZES):
            changed = {name: SIZE.sub(size, expression) for name, expression in expressions.items()}
            self.push(cost + OTHER_SIZE + RANK * rank, changed)

    def push_other_guesses(self, cost, expressions, on_line):
        if cost >= FAR:
            return
        for name, found in self.guesses.items():
            nearer = ON_LINE if name in on_line else 0.0
            for rank, guess in enumerate(found):
                if name in expressions and guess != expressions[name]:
                    self.push(cost + ANOTHER_GUESS + RANK * rank - nearer, expressions | {name: guess})

    def push(self, cost, expressions):
        key = tuple(sorted(expressions.items()))
        if key not in self.tried:
            self.tried.add(key)
            heapq.heappush(self.queue, (cost, next(self.order), expressions))

    def is_given(self, expressions):
        """Whether a shim has said all of it: then nothing is left to guess."""
        return bool(self.given) and expressions == self.given


def is_set_up(model):
    """Whether the constructor of `torch.nn.Module` has run: one that overrides `__call__` can do without."""
    return "_parameters" in vars(model)


def sized(model):
    """The parameters of a model whose shapes are known."""
    import torch

    if not is_set_up(model):
        return ()
    return (parameter for parameter in model.parameters() if not torch.nn.parameter.is_lazy(parameter))
