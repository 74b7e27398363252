"""What NN-DUP itself decides about the models of a table, for comparison with `netquarry dedup run --preset nn-dup`.

    nn_dup_decisions.py PACKAGES rows FOLDER ROWS
    nn_dup_decisions.py PACKAGES decide ROWS OUT [OPTION...]

PACKAGES is a folder into which `pip install --target PACKAGES` has written nn-dup 2.2.4, without what it depends on, and
datasketch 1.6.5 and pandas; Python must be 3.11.

`rows` writes a JSON line for each class with a `forward` method in the Python files below FOLDER, and for copies of some of
them that are edited in ways that are drawn with a fixed seed. No two have the same accuracy and length, since NN-DUP leaves it
to the order of a set which of two equals stays.

`decide` runs NN-DUP's own program, with its options, on ROWS instead of on what it would fetch, and leaves its files in OUT.
"""

import ast
import json
import os
import pathlib
import random
import re
import sys
import types


def rows(folder, path):
    draw = random.Random(1)
    classes = {name: code for file in sorted(pathlib.Path(folder).rglob("*.py")) for name, code in classes_of(file)}
    table = []
    for name, code in classes.items():
        table.append((name, code))
        copies = range(draw.choice(COPIES))
        table += [(f"{draw.choice(PREFIXES)}-{name}", edited(code, draw)) for _ in copies]
    draw.shuffle(table)
    accuracies = [None] + [number / len(table) for number in range(1, len(table))]
    draw.shuffle(accuracies)
    with open(path, "w", encoding="utf-8") as file:
        for (name, code), accuracy in zip(table, accuracies):
            file.write(json.dumps({"nn": name, "nn_code": code, "accuracy": accuracy}) + "\n")


PREFIXES = ["rag", "FractalNet", "ResNet", "alt"]
# Of near-duplicates five stay.
COPIES = [0, 0, 0, 1, 2, 12]


def classes_of(file):
    code = file.read_text(encoding="utf-8")
    lines = code.splitlines(True)
    for node in ast.parse(code).body:
        if isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "forward" for each in node.body):
            yield node.name, "".join(lines[node.lineno - 1 : node.end_lineno])


def edited(code, draw):
    """Another text of the class: the same, commented, written anew, of other numbers, with a line more, with a name less."""
    kind = draw.randrange(6)
    if kind == 0:
        return code
    if kind == 1:
        return code.replace("\n", "  # copied\n", draw.randrange(1, 9))
    if kind == 2:
        return ast.unparse(ast.parse(code))
    if kind == 3:
        return re.sub(r"\b[1-9]\b", lambda _: str(draw.randrange(1, 9)), code)
    if kind == 4:
        return code.replace("    def forward", "    unused = 0\n\n    def forward", 1)
    return re.sub(r"\bself\.(norm|act|drop|proj|fc|conv)\w*", "self.layer", code)


def decide(path, out, options):
    import pandas

    with open(path, encoding="utf-8") as file:
        table = pandas.DataFrame([json.loads(line) for line in file])
    fetch = types.ModuleType("ab.nn.api")
    fetch.data = lambda only_best_accuracy: table
    sys.modules |= {"ab.nn": types.ModuleType("ab.nn"), "ab.nn.api": fetch}
    from ab.dup import main

    sys.argv = ["nn-dup", "--out", out, *options]
    main.main()


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": "0"})
    packages, command, *arguments = sys.argv[1:]
    sys.path.insert(0, packages)
    if command == "rows":
        rows(*arguments)
    else:
        decide(*arguments[:2], arguments[2:])
