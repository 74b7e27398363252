"""How many of the blocks that the reference registered in LEMUR a run has bundled, executed and constructed: plain Python
3.11 or later.

    python -I lemur_registered.py WHEEL LIBRARY...

`WHEEL` is that of nn-dataset 2.1.2, whose `rag-*.py` models name in their first lines the block that each was made from;
`LIBRARY` is a folder with a `manifest.jsonl` and the bundles. A line of figures goes to the output: of the registered
blocks those whose name a library has, and of these the percentages that came so far, with those that did not by name. The
exit status is 1 where the percentages are below the bars of 95, 95 and 85.

The models tell no module. Where several blocks of the libraries bear a name, the one counts whose class is most like that
of the model in its tokens, with no regard to how far it came; a block without a bundle has no text here and is taken where
no other of its name has one.
"""

import difflib
import io
import json
import pathlib
import re
import sys
import tokenize
import zipfile

MODEL = re.compile(r"/rag-[0-9a-f]{32}\.py$")
NAME = re.compile(r"^# Auto-generated single-file for (\w+)$", re.MULTILINE)
BARS = {"bundled": 95, "executed": 95, "constructed": 85}
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}


def main(wheel, libraries):
    models = registered(wheel)
    records = {}
    for library in map(pathlib.Path, libraries):
        for line in (library / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            records.setdefault(record["name"], []).append((library, record))
    present = {name: closest(name, code, records[name]) for name, code in models.items() if name in records}
    reached = {
        # What another block does as well was bundled all the same, and only its file was left out.
        "bundled": {name for name, record in present.items() if record["sha256"]},
        "executed": {name for name, record in present.items() if passed(record, "execute")},
        "constructed": {name for name, record in present.items() if passed(record, "construct")},
    }
    figures = {"registered": len(models), "present": len(present), "absent": sorted(models.keys() - present.keys())}
    for level, names in reached.items():
        figures[level] = len(names)
        figures[f"{level}_percent"] = round(100 * len(names) / max(len(present), 1), 2)
        figures[f"not_{level}"] = sorted(present.keys() - names)
    print(json.dumps(figures))
    return int(not present or any(figures[f"{level}_percent"] < bar for level, bar in BARS.items()))


def registered(wheel):
    """The text of one model for each block that is named."""
    models = {}
    with zipfile.ZipFile(wheel) as archive:
        for path in sorted(filter(MODEL.search, archive.namelist())):
            code = archive.read(path).decode("utf-8")
            if name := NAME.search(code):
                models.setdefault(name[1], code)
    return models


def closest(name, code, candidates):
    """The record whose class is most like the model's."""
    if len(candidates) == 1:
        return candidates[0][1]
    model = tokens(class_text(code, name))

    def likeness(candidate):
        library, record = candidate
        if not record["bundle"]:
            return -1, record["block"]
        bundle = (library / record["bundle"]).read_text(encoding="utf-8")
        return difflib.SequenceMatcher(None, model, tokens(class_text(bundle, name)), autojunk=False).ratio(), record["block"]

    return max(candidates, key=likeness)[1]


def class_text(code, name):
    """The last class of that name, or nothing where a bundle had to rename it."""
    lines = code.splitlines(keepends=True)
    starts = [place for place, line in enumerate(lines) if re.match(rf"class {name}\b", line)]
    if not starts:
        return ""
    rest = lines[starts[-1] + 1 :]
    length = next((place for place, line in enumerate(rest) if line.strip() and not line[0].isspace()), len(rest))
    return "".join([lines[starts[-1]], *rest[:length]])


def tokens(code):
    try:
        return [token.string for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type not in IGNORED]
    except (tokenize.TokenError, IndentationError):
        return code.split()


def passed(record, level):
    return (record.get("levels") or {}).get(level) == "passed"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
