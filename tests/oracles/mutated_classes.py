"""Many distinct classes, made of those of packages.

    mutated_classes.py FOLDER COUNT ROWS

Writes to ROWS a JSON line (`nn`, `nn_code`) for each of COUNT classes: in turn, each class with a `forward` method in the Python
files below FOLDER, with layers, numbers and attributes changed at random. What is drawn depends on the line's number alone, so a
longer table begins with a shorter one. Nothing is executed.
"""

import ast
import json
import pathlib
import random
import re
import sys

LAYERS = ["Linear", "Conv1d", "Conv2d", "Conv3d", "LayerNorm", "BatchNorm2d", "GroupNorm", "Dropout", "GELU", "ReLU", "SiLU", "Identity"]
# A layer, a number that stands by itself, or an attribute of the object.
SITE = re.compile(r"(?P<layer>\bnn\.[A-Z]\w*)|(?P<number>(?<![\w.])\d+(?![\w.]))|(?P<attribute>\bself\.[a-z]\w*)")
# Of these sites, and of the attributes' names: all uses of one change together.
PART = 0.3


def main(folder, count, path):
    classes = sorted(set(found(pathlib.Path(folder))))
    with open(path, "w", encoding="utf-8") as rows:
        for number in range(int(count)):
            name, code = classes[number % len(classes)]
            rows.write(json.dumps({"nn": f"{name}_{number}", "nn_code": mutated(code, random.Random(number))}) + "\n")


def found(folder):
    for file in sorted(folder.rglob("*.py")):
        try:
            code = file.read_text(encoding="utf-8")
            tree = ast.parse(code)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = code.splitlines(True)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "forward" for each in node.body):
                yield node.name, "".join(lines[node.lineno - 1 : node.end_lineno])


def mutated(code, chance):
    attributes = {}

    def drawn(site):
        old = site[0]
        if site["attribute"]:
            return attributes.setdefault(old, f"{old}_{chance.randrange(100)}" if chance.random() < PART else old)
        if chance.random() >= PART:
            return old
        return f"nn.{chance.choice(LAYERS)}" if site["layer"] else str(chance.randrange(1, 2048))

    return SITE.sub(drawn, code)


if __name__ == "__main__":
    main(*sys.argv[1:])
