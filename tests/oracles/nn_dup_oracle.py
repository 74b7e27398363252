"""What NN-DUP itself makes of Python code, for comparison with NetQuarry's `fingerprint` module.

    nn_dup_oracle.py NN_DUP RESPONSES FOLDER...

NN_DUP is a folder into which `pip install --no-deps --target NN_DUP nn-dup==2.2.4` has written; Python must be 3.11, whose
tokenizer decides. Takes every Python file below the folders: whole, class by class, and damaged in ways that are drawn
with a fixed seed, because most of what the rules say about broken code never happens in whole files. RESPONSES receives
one JSON line per code: the `code`, where it comes `from`, the SHA-256 of its normalised `tokens` joined with blanks, the
hash of its `structure`, and whether it `parses`.
"""

import ast
import hashlib
import json
import pathlib
import random
import sys
import types
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20_000)

# What one character or a few do to a tokenizer.
DAMAGE = [
    "\r", "\f", "\v", "\x1c", "\x85", "\u2028", "`", "?", "!", "$", "\\", "\\\n", '"', "'", '"""', "'''", "(", ")", "]",
    "#", "\t", " ", "\n", "\n\n", "\n    ", "²", "é", "x²", "Ⅷ", "٣", "\ufeff", "\0", "0x", "1_", "1e", "1j", "0777", "..",
    "...", "->", ":=", "<>", "rb'", "Rb\"", "f'''", "u'a\\\n", "b'a\\\r\nb'", "async ", "match x:\n", "lambda: ",
]


def load(folder):
    """NN-DUP's two modules, without the package around them, which needs pandas and the network."""
    for name in ("ab", "ab.dup"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.joinpath(*name.split(".")))]
        sys.modules[name] = package
    from ab.dup.utils import astfp, textproc

    return textproc, astfp


def snippets(code, draw):
    """The code whole, its classes, and damaged copies of all of them."""
    whole = [code]
    try:
        lines = code.splitlines(True)
        classes = [node for node in ast.parse(code).body if isinstance(node, ast.ClassDef)]
        whole += ["".join(lines[node.lineno - 1 : node.end_lineno]) for node in classes]
    except (SyntaxError, ValueError):
        pass
    for snippet in whole:
        yield snippet
        yield damaged(snippet, draw)


def damaged(code, draw):
    kind = draw.randrange(4)
    start, end = sorted(draw.randrange(len(code) + 1) for _ in range(2))
    if kind == 0:
        return code[:end]
    if kind == 1:
        lines = code.split("\n")
        del lines[draw.randrange(len(lines))]
        return "\n".join(lines)
    if kind == 2:
        return code.replace("\n", draw.choice(["\r\n", "\r", "\n\n", "\n#\n"]))
    for _ in range(draw.randrange(1, 4)):
        position = draw.randrange(len(code) + 1)
        code = code[:position] + draw.choice(DAMAGE) + code[position:]
    return code


def parses(code):
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


def answer(textproc, astfp, code):
    region = textproc.extract_model_region(code)
    names = textproc.collect_declared_names(region)
    tokens = textproc.python_token_stream(textproc.strip_comments_and_docstrings(region), names)
    return {
        "tokens": hashlib.sha256(" ".join(tokens).encode()).hexdigest(),
        "structure": astfp.structural_fingerprint_from_source(code).as_hash(),
        "parses": parses(code),
    }


def main(nn_dup, responses, *folders):
    textproc, astfp = load(pathlib.Path(nn_dup))
    draw = random.Random(1)
    with open(responses, "w", encoding="utf-8") as output:
        for folder in folders:
            for path in sorted(pathlib.Path(folder).rglob("*.py")):
                try:
                    code = path.read_bytes().decode("utf-8")
                except UnicodeDecodeError:
                    continue
                for number, snippet in enumerate(snippets(code, draw)):
                    origin = f"{path}, snippet {number}"
                    response = {"code": snippet, "from": origin} | answer(textproc, astfp, snippet)
                    output.write(json.dumps(response) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
