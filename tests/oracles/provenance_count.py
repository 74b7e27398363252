"""How many of a library's blocks tell where each of their definitions is from: plain Python 3.11 or later.

    python -I provenance_count.py LIBRARY

Complete is a definition with the SHA-1 and the SWHID of its file, the latter with path and lines as the record has them, a
path, lines, a licence, and a source with a version or a commit. Complete is a block whose definitions all are, with a SWHID
and a licence of its own. A line of figures goes to the output, with the blocks that are not complete and those whose
licence is unknown or one that only upstream names; the exit status is 1 where a block is not complete or the licences of
more than one of a hundred are unknown.
"""

import json
import pathlib
import re
import sys

SWHID = re.compile(r"swh:1:cnt:[0-9a-f]{40}")
SHA1 = re.compile(r"[0-9a-f]{40}")
UNKNOWN = re.compile(r"\b(NOASSERTION|NONE)\b")


def main(library):
    blocks = definitions = complete_definitions = 0
    incomplete, unknown, named = [], [], []
    for line in (pathlib.Path(library) / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if not record["bundle"] or record["bundle"].startswith("duplicates/"):
            continue
        blocks += 1
        definitions += len(record["closure"])
        sources = {source["name"]: source for source in record["sources"]}
        complete = [is_complete(definition, sources) for definition in record["closure"]]
        complete_definitions += sum(complete)
        licence = record["license"] or "NOASSERTION"
        if not all(complete) or not complete or not SWHID.match(record["swhid"] or "") or not record["license"]:
            incomplete.append(record["block"])
        if UNKNOWN.search(licence):
            unknown.append(record["block"])
        elif "LicenseRef" in licence:
            named.append(record["block"])
    figures = {
        "blocks": blocks,
        "complete": blocks - len(incomplete),
        "definitions": definitions,
        "complete_definitions": complete_definitions,
        "incomplete": incomplete,
        "unknown_licence": unknown,
        "licence_named_by_upstream_alone": named,
    }
    print(json.dumps(figures))
    return int(not blocks or bool(incomplete) or 100 * len(unknown) > blocks)


def is_complete(definition, sources):
    source = sources.get(definition["definition"].split(":", 1)[0])
    path, lines, swhid = definition["path"], definition["lines"], definition["swhid"] or ""
    if not (source and path and lines and definition["license"] and (source["version"] or source["commit"])):
        return False
    span = f"{lines[0]}-{lines[1]}" if lines[0] != lines[1] else str(lines[0])
    qualifiers = swhid.split(";")[1:]
    placed = f"path=/{path}" in qualifiers and f"lines={span}" in qualifiers
    return bool(SWHID.match(swhid) and SHA1.fullmatch(definition["sha1"] or "") and placed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
