"""What the error of an attempt says about the arguments of a constructor that were wrong.

Each repair is a whole set of arguments to try next, the likeliest first.
"""

import ast
import linecache
import re

from netquarry_worker import checks, guesses

MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)$")
ATTRIBUTE_OF_NAMESPACE = re.compile(r"'types\.SimpleNamespace' object has no attribute '(\w+)'")
QUOTED = re.compile(r"['\"`]([A-Za-z][\w\-.]*)['\"`]")
# How many of the innermost lines of the block's module are read.
LINES = 3
# Of the numbers in a list that a check asks for.
MOST_NUMBERS = 16
# A smaller number is too common to say that an argument is meant that has it.
TELLING = 3
IS_LENGTH = re.compile(r"index out of range|not enough values|unpack|has no len|not iterable|not subscriptable|length|list of")
# Two sizes that ought to be one.
SIZES = re.compile(
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"
    r"|weight of size \[\d+, (\d+)[^\]]*\], expected input\[\d+, (\d+)"
    r"|shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"
    r"|(\d+) channels, but got (\d+) channels"
)
OF_TENSOR = re.compile(r"'(?:int|float)' object has no attribute '(?:size|shape|dim|ndim|device|dtype|numel|view|float|to)'")
INPUT_SIZE = re.compile(r"in_?(planes|channels?|chs|features|dim|size)|inplanes|c1|(feat_)?channels|dim|hidden_size")


def of_constructor(error, expressions, parameters, guesser):
    """Sets of arguments that the message and the line that failed suggest."""
    message = str(error)
    known = {parameter.name: parameter for parameter in parameters}
    if match := MISSING.search(message):
        missing = [name for name in re.findall(r"'(\w+)'", match.group(1)) if name not in expressions]
        if missing:
            yield expressions | {name: guesser.for_name(name)[0] for name in missing}
    if match := ATTRIBUTE_OF_NAMESPACE.search(message):
        yield from with_attribute(expressions, match.group(1))
    on_line = names_on_failing_lines(error, guesser.block)
    if "NoneType" in message:
        yield from given_after_all(expressions, known, on_line, guesser)
    if OF_TENSOR.search(message):
        yield from tensors_instead(expressions, on_line)
    yield from of_quoted(message, expressions)
    yield from of_checks(error, expressions, known, guesser)
    if IS_LENGTH.search(message):
        yield from of_length(expressions, known, on_line, guesser)


def of_forward(error, expressions, parameters, guesser):
    """What a forward pass says about the constructor's arguments: parameters that are None and should not be, sizes that
    do not fit what was made of others, as in a residual connection, and those that a check refused."""
    known = {parameter.name: parameter for parameter in parameters}
    yield from of_checks(error, expressions, known, guesser)
    if "NoneType" in str(error):
        yield from given_after_all(expressions, known, names_on_failing_lines(error, guesser.block), guesser)
    match = SIZES.search(str(error))
    if not match:
        return
    sizes = sorted({int(size) for size in match.groups() if size}, reverse=True)
    for name, expression in expressions.items():
        if INPUT_SIZE.fullmatch(name) and expression.isdigit():
            yield from (expressions | {name: str(size)} for size in sizes if str(size) != expression)


def of_checks(error, expressions, known, guesser):
    """What a check of the block's own wanted, for parameters that have the value that it found, or that list as many."""
    for unmet in checks.unmet_by(error, guesser.block):
        named = {guesses.name_of(node) for node in ast.walk(unmet.node)}
        counted = checks.counted(unmet.node)
        if counted is not None:
            yield from of_count(counted, unmet.wanted, expressions, known)
        elif type(unmet.wanted) is int and unmet.wanted > 0:
            value = re.compile(rf"\b{unmet.found}\b")
            # Those that the check names, before those whose values may have gone into it.
            for name in sorted(expressions, key=lambda name: name not in named):
                is_meant = name in named or unmet.found >= TELLING
                if is_meant and re.fullmatch(r"[\d(), \[\]]+", expressions[name]) and value.search(expressions[name]):
                    yield expressions | {name: value.sub(str(unmet.wanted), expressions[name])}


def of_count(name, count, expressions, known):
    """A list that is as long as a check wanted."""
    found = expressions.get(name) or (repr(known[name].default) if name in known else "")
    if 0 < count <= MOST_NUMBERS and re.fullmatch(r"[\[(][\d., ]+[\])]", found):
        numbers = re.findall(r"[\d.]+", found)
        yield expressions | {name: f"[{', '.join((numbers + numbers[-1:] * count)[:count])}]"}


def tensors_instead(expressions, on_line):
    """A matrix or a vector, for a number of which the line that failed asks what only a tensor has."""
    for name in on_line:
        if re.fullmatch(r"[\d.]+", expressions.get(name, "")):
            yield from (expressions | {name: tensor} for tensor in ("torch.eye(64)", "torch.ones(64)"))


def with_attribute(expressions, attribute):
    for name, expression in expressions.items():
        if expression.startswith("types.SimpleNamespace("):
            separator = "" if expression == guesses.NAMESPACE else ", "
            for value in guesses.attribute(attribute)[:2]:
                yield expressions | {name: f"{expression[:-1]}{separator}{attribute}={value})"}


def given_after_all(expressions, known, on_line, guesser):
    """Parameters that may be None, and are used on the line that failed as if they were not."""
    for name in on_line:
        is_none = expressions.get(name, "None" if name in known and known[name].default is None else "") == "None"
        if name in known and is_none:
            usable = [guess for guess in guesser.for_parameter(known[name]) if guess != "None"]
            yield from (expressions | {name: guess} for guess in usable[:2])


def of_quoted(message, expressions):
    """Words that the message quotes, for parameters that got a word."""
    words = list(dict.fromkeys(QUOTED.findall(message)))[:6]
    for name, expression in expressions.items():
        if expression[:1] in "'\"":
            yield from (expressions | {name: repr(word)} for word in words if repr(word) != expression)


def of_length(expressions, known, on_line, guesser):
    """Lists instead of numbers, and of other lengths, for what the line that failed uses."""
    for name in on_line:
        default = known[name].default if name in known and name not in expressions else None
        if default in ((), []):
            lists = [guess for guess in guesser.for_name(name) if guess.startswith("[")]
            yield from (expressions | {name: guess} for guess in lists or ["[64, 64, 64, 64]"])
        # A rate for all, where one for each is read.
        numeric = type(default) in (int, float)
        expression = repr(default) if numeric else expressions.get(name, "")
        if re.fullmatch(r"[\d.]+", expression):
            yield from (expressions | {name: f"[{', '.join([expression] * count)}]"} for count in (2, 4))
        elif re.fullmatch(r"[\[(][\d., ]+[\])]", expression):
            first = re.search(r"[\d.]+", expression).group()
            length = expression.count(",") + 1
            lengths = [count for count in (3, 4, 5) if count != length]
            yield from (expressions | {name: f"[{', '.join([first] * count)}]"} for count in lengths)


def names_on_failing_lines(error, block):
    """The names on the lines of the block's module at which an exception passed, the innermost first."""
    names = []
    for frame, line in reversed(guesses.frames_of(error, block)[-LINES:]):
        # A call may reach over several lines.
        for each in (line, line - 1, line + 1):
            names.extend(re.findall(r"[A-Za-z_]\w*", linecache.getline(frame.f_code.co_filename, each)))
    return list(dict.fromkeys(names))
