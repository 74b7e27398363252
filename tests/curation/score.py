"""What a deduplication says about the labelled pairs.

    score.py DECISIONS

DECISIONS is the `decisions.jsonl` of `netquarry dedup run` over the corpus that README.md describes. Two blocks are said to be
duplicates if one of them stands for both. Prints precision and recall over all pairs, over those without doubt, and over each
half of the pairs (odd and even lines), so that a rule that was found on one half can be seen on the other.
"""

import json
import pathlib
import sys


def main(path):
    survivors = {}
    with open(path, encoding="utf-8") as lines:
        for decision in map(json.loads, lines):
            is_removed = decision["decision"] == "removed"
            survivors[decision["block"]] = decision["survivor"] if is_removed else decision["block"]
    text = pathlib.Path(__file__).with_name("pairs.jsonl").read_text(encoding="utf-8")
    pairs = [json.loads(line) for line in text.splitlines()]
    missing = {block for pair in pairs for block in (pair["first"], pair["second"])} - survivors.keys()
    if missing:
        sys.exit(f"{path} decides nothing about {len(missing)} blocks, such as {min(missing)}: it is of another corpus")
    parts = {
        "all": pairs,
        "without doubt": [pair for pair in pairs if not pair["doubt"]],
        "odd": pairs[::2],
        "even": pairs[1::2],
    }
    for name, part in parts.items():
        said = [pair for pair in part if survivors[pair["first"]] == survivors[pair["second"]]]
        right = sum(pair["duplicate"] for pair in said)
        duplicates = sum(pair["duplicate"] for pair in part)
        precision = right / len(said) if said else 1.0
        print(
            f"{name:15}{len(part):4} pairs, {duplicates:2} duplicates; said of {len(said):3}, right {right:2}: "
            f"precision {precision:.2f}, recall {right / duplicates:.2f}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
