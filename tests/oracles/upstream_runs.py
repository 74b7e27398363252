"""Looks for upstream's expression in neutral specs: runs of tokens that a spec shares with its block's bundle.

    python3 upstream_runs.py LIBRARY [--least 25]

A spec is compared with all of upstream's text that its block consists of, in three readings of both: all tokens, all but
quotation marks, and words and numbers alone. Prints one line of figures and each run that is too long; exits with 1 where
there is one.
"""

import argparse
import json
import pathlib
import re
import sys

TOKEN = re.compile(r"\w+|[^\w\s]")
READINGS = {
    "tokens": lambda token: True,
    "tokens without quotation marks": lambda token: token not in "\"'",
    "words": lambda token: token[0].isalnum() or token[0] == "_",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--least", type=int, default=25, help="a run of so many tokens is too long [%(default)s]")
    arguments = parser.parse_args()
    found, compared, longest = [], 0, 0
    for line in (arguments.library / "manifest.jsonl").open(encoding="utf-8"):
        record = json.loads(line)
        bundle = record["bundle"]
        if not bundle or not bundle.startswith("blocks/"):
            continue
        stem = pathlib.PurePosixPath(bundle).stem
        spec = arguments.library / "specs" / "emit-neutral-spec" / "blocks" / f"{stem}.json"
        if not spec.is_file():
            sys.exit(f"{spec} is not there")
        compared += 1
        code, text = (arguments.library / bundle).read_text(encoding="utf-8"), spec.read_text(encoding="utf-8")
        for reading, is_meant in READINGS.items():
            run = longest_run(tokens(without_header(code), is_meant), tokens(text, is_meant))
            longest = max(longest, len(run))
            if len(run) >= arguments.least:
                found.append(f"{record['block']}: {len(run)} {reading}: {' '.join(run)[:200]}")
    print("\n".join(found))
    print(f"{compared} specs compared, {len(found)} with a run of {arguments.least} or more; the longest has {longest}")
    sys.exit(1 if found or not compared else 0)


def without_header(code):
    """The header is NetQuarry's own: names and identifiers that specs have too."""
    lines = code.splitlines()
    while lines and lines[0].startswith("#"):
        del lines[0]
    return "\n".join(lines)


def tokens(text, is_meant):
    return [token for token in TOKEN.findall(text) if is_meant(token)]


def longest_run(left, right):
    """The longest run of tokens that stands in both: found by doubling the length that is looked for, then between."""
    shared = lambda length: next(iter(runs(left, length).keys() & runs(right, length).keys()), ())
    least, most = 0, 1
    while shared(most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if shared(middle) else (least, middle)
    return shared(least) if least else ()


def runs(sequence, length):
    return {tuple(sequence[start : start + length]): start for start in range(len(sequence) - length + 1)}


if __name__ == "__main__":
    main()
