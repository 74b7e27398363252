"""What CPython itself says about Python files, against what NetQuarry's `syntax` module says.

    python_oracle.py REQUESTS RESPONSES

REQUESTS is a file of JSON lines, one per Python file: its `path`, the `diagnostic` with which it was rejected (or null),
and otherwise what was read off it. RESPONSES receives one JSON line per disagreement and, last, one with the counts.
Nothing is executed: files are parsed, their symbol tables are built, and they are compiled.

Every check has an oracle of its own:

parse        `ast`: what CPython 3.11 accepts is read; a later version has syntax that NetQuarry need not know
scopes       `symtable`: every scope, every name in it and what it is there; in 3.11, as later versions show scopes in
             another way (PEP 709 dissolves comprehensions, PEP 649 and 695 add scopes)
statements   `ast`: the range of every top-level statement, decorators included; and each, sliced out, is the same tree
definitions  `ast`: the range of every class and function that the facts list
loads        the bytecode: every instruction that reads a global, with the place it comes from
bindings     the bytecode: every name that running the module stores in its globals
"""

import ast
import bisect
import io
import json
import opcode
import symtable
import sys
import tokenize
import warnings

warnings.simplefilter("ignore")

# The version whose semantics NetQuarry has.
IS_REFERENCE = sys.version_info[:2] == (3, 11)


class Text:
    """The decoded text of a file, and offsets into its UTF-8 form."""

    def __init__(self, data):
        # The compiler looks for the coding cookie when it has translated line ends; `tokenize` does not.
        lines = io.BytesIO(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        encoding, _ = tokenize.detect_encoding(lines.readline)
        self.bytes = data.decode(encoding).removeprefix("\ufeff").encode("utf-8")
        # CPython ends lines at "\n", "\r" and "\r\n", and nowhere else.
        self.lines = [0]
        for index, byte in enumerate(self.bytes):
            if byte == 0x0A or (byte == 0x0D and self.bytes[index + 1 : index + 2] != b"\n"):
                self.lines.append(index + 1)

    def offset(self, line, column):
        return self.lines[line - 1] + column

    def slice(self, start, end):
        return self.bytes[start:end].decode("utf-8")

    def line_of(self, offset):
        return bisect.bisect_right(self.lines, offset)


def scopes(table, depth=0):
    """One line per scope: depth, kind, name, and the names in it with their classes."""
    is_module = table.get_type() == "module"
    symbols = []
    for symbol in table.get_symbols():
        # `_Symbol__scope` and the flags below it are what the compiler works with.
        kind = {1: "local", 2: "global_explicit", 3: "global_implicit", 4: "free", 5: "cell"}[symbol._Symbol__scope]
        flags = "".join(
            letter
            for letter, is_set in (
                ("p", symbol.is_parameter()),
                ("i", symbol.is_imported()),
                ("a", symbol.is_annotated()),
                ("s", symbol.is_assigned()),
                ("r", symbol.is_referenced()),
            )
            if is_set
        )
        symbols.append(f"{symbol.get_name()}={kind}:{flags}")
    kind = "function" if table.get_type() == "function" else table.get_type()
    name = "top" if is_module else table.get_name()
    yield f"{depth} {kind} {name} " + " ".join(sorted(symbols, key=lambda symbol: symbol.encode("utf-8")))
    for child in table.get_children():
        yield from scopes(child, depth + 1)


def start_of(text, node):
    """The offset at which a statement starts: that of its first `@`."""
    if not getattr(node, "decorator_list", None):
        return text.offset(node.lineno, node.col_offset)
    first = node.decorator_list[0]
    end = text.offset(first.lineno, first.col_offset)
    while True:
        end = text.bytes.rindex(b"@", 0, end)
        line = text.bytes[text.lines[text.line_of(end) - 1] : end]
        if not line.strip(b" \t\f"):
            return end


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def range_of(text, node):
    """The range of a statement or expression; CPython counts a semicolon that ends its last line to it."""
    start, end = start_of(text, node), text.offset(node.end_lineno, node.end_col_offset)
    while text.bytes[end - 1 : end] in (b";", b" "):
        end -= 1
    return [start, end]


def is_same_statement(text, node, start, end):
    """Whether a top-level statement, sliced out, is the same tree."""
    try:
        [statement] = ast.parse(text.slice(start, end)).body
    except (SyntaxError, ValueError):
        return False
    return ast.dump(statement) == ast.dump(node)


def code_objects(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from code_objects(constant)


LOADS = {opcode.opmap[name] for name in ("LOAD_NAME", "LOAD_GLOBAL") if name in opcode.opmap}
STORES = {opcode.opmap[name] for name in ("STORE_NAME", "STORE_GLOBAL")}
STORE_GLOBAL = opcode.opmap["STORE_GLOBAL"]
LOAD_GLOBAL = opcode.opmap["LOAD_GLOBAL"]


def name_instructions(code):
    """The instructions that read or store names: opcode, name and position."""
    argument = 0
    for index, position in zip(range(0, len(code.co_code), 2), code.co_positions()):
        operation, argument = code.co_code[index], argument << 8 | code.co_code[index + 1]
        if operation == opcode.EXTENDED_ARG:
            continue
        if operation in LOADS or operation in STORES:
            # Since 3.11 the lowest bit of the argument of LOAD_GLOBAL means something else.
            number = argument >> 1 if operation == LOAD_GLOBAL and sys.version_info >= (3, 11) else argument
            yield operation, code.co_names[number], position
        argument = 0


def global_uses(text, code):
    """Where the bytecode reads globals, as (name, start, end), and which names module level stores."""
    loads, stores = set(), set()
    for current in code_objects(code):
        # A class body finds a global until it has a name of its own.
        own = set()
        is_module = current is code
        for operation, name, (line, end_line, column, end_column) in name_instructions(current):
            if operation in STORES:
                if is_module or operation == STORE_GLOBAL and not current.co_flags & 2:
                    stores.add(name)
                if operation != STORE_GLOBAL:
                    own.add(name)
            elif is_module or operation == LOAD_GLOBAL or name not in own:
                if None not in (line, end_line, column, end_column):
                    loads.add((name, text.offset(line, column), text.offset(end_line, end_column)))
    return loads, stores


def inside(ranges, start, end):
    return any(left <= start and end <= right for left, right in ranges)


def formatted_strings(text, tree):
    """The ranges of all f-strings: before 3.12, CPython does not know the places of what stands in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield range_of(text, node)


def main_guards(text, tree):
    for node in tree.body:
        if isinstance(node, ast.If) and not node.orelse and "__main__" in ast.dump(node.test):
            yield range_of(text, node)


def check(request):
    """Yields (check, explanation) for every disagreement about one file."""
    with open(request["path"], "rb") as file:
        data = file.read()
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    COUNTS["accepted"] += 1
    if request["diagnostic"]:
        if IS_REFERENCE:
            yield "parse", request["diagnostic"]
        return
    text = Text(data)

    try:
        table = symtable.symtable(data, request["path"], "exec")
    except SyntaxError:
        table = None
    if table and IS_REFERENCE:
        expected = list(scopes(table))
        COUNTS["scopes"] += len(expected)
        if expected != request["scopes"]:
            for left, right in zip(expected + ["(none)"], request["scopes"] + ["(none)"]):
                if left != right:
                    left, right = set(left.split(" ")), set(right.split(" "))
                    yield "scopes", f"CPython {sorted(left - right)}, facts {sorted(right - left)} in {left & right}"
                    break

    nodes = [node for node in tree.body if not is_docstring(node)]
    COUNTS["statements"] += len(nodes)
    expected = [range_of(text, node) for node in nodes]
    if expected != request["statements"]:
        for left, right in zip(expected + [None], request["statements"] + [None]):
            if left != right:
                yield "statements", f"CPython {left}, facts {right}"
                break
    else:
        for node, (start, end) in zip(nodes, expected):
            if not is_same_statement(text, node, start, end):
                yield "statements", f"another statement at {start}..{end}"

    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    definitions = {tuple(range_of(text, node)) for node in ast.walk(tree) if isinstance(node, kinds)}
    COUNTS["definitions"] += len(request["definitions"])
    for start, end in request["definitions"]:
        if (start, end) not in definitions:
            yield "definitions", f"no definition at {start}..{end}"

    try:
        code = compile(data, request["path"], "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from check_uses(request, text, tree, code)


def check_uses(request, text, tree, code):
    loads, stores = global_uses(text, code)
    guarded = list(main_guards(text, tree))
    formatted = list(formatted_strings(text, tree)) if sys.version_info < (3, 12) else []
    loads = {load for load in loads if not inside(guarded, load[1], load[2])}
    uses = {tuple(use) for use in request["loads"]}
    names = {name for name, _, _ in uses}
    for name, start, end in sorted(loads, key=lambda load: load[1]):
        COUNTS["loads"] += 1
        if inside(formatted, start, end):
            if name not in names:
                yield "loads", f"`{name}` in the f-string at line {text.line_of(start)} is missing"
        elif (name, start, end) not in uses:
            # Python itself writes `__module__ = __name__` into every class, and sets up `__annotations__`.
            if name not in ("__name__", "__annotations__") or text.slice(start, end) == name:
                yield "loads", f"`{name}` at line {text.line_of(start)} is missing"
    COUNTS["bindings"] += len(stores)
    stores -= {"__annotations__", "__doc__"}
    if not guarded and not stores <= set(request["bindings"]):
        yield "bindings", f"{sorted(stores - set(request['bindings']))} are missing"


COUNTS = dict.fromkeys(("files", "accepted", "scopes", "statements", "definitions", "loads", "bindings"), 0)


def main():
    requests, responses = sys.argv[1:]
    sys.setrecursionlimit(10_000)
    with open(requests, encoding="utf-8") as lines, open(responses, "w", encoding="utf-8") as output:
        for line in lines:
            request = json.loads(line)
            COUNTS["files"] += 1
            for name, explanation in check(request):
                output.write(json.dumps({"path": request["path"], "check": name, "explanation": explanation}) + "\n")
        output.write(json.dumps({"counts": COUNTS, "version": sys.version.split()[0]}) + "\n")


if __name__ == "__main__":
    main()
