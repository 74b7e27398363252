"""Compares SWHIDs with those of `swh.model`, the reference implementation of Software Heritage.

    swhid_oracle.py PACKAGES REQUESTS RESPONSES

PACKAGES is a folder with `swh.model` and what it needs. REQUESTS has a JSON object a line, with the identifier that
NetQuarry made as `swhid` and what it is of. RESPONSES gets an object for each that differs, and at its end the number of
comparisons by kind.
"""

import json
import subprocess
import sys


def definition(request):
    """The identifier of lines of a file, and the text once more after it was read."""
    with open(request["file"], "rb") as file:
        content = Content.from_data(file.read()).swhid()
    expected = QualifiedSWHID(
        object_type=content.object_type,
        object_id=content.object_id,
        origin=request["origin"],
        anchor=request["anchor"],
        path=("/" + request["path"]).encode(),
        lines=tuple(request["lines"]) if request["lines"][0] != request["lines"][1] else (request["lines"][0], None),
    )
    assert QualifiedSWHID.from_string(str(expected)) == expected
    return str(expected)


def directory(request):
    """The identifier of a work tree."""
    made = Directory.from_disk(
        path=request["folder"].encode(),
        path_filter=lambda folder, name, entries: name != b".git",
        max_content_length=None,
    )
    return str(made.swhid())


def revision(request):
    """The identifier of a commit, put together from what git shows of it."""
    fields = "%T%x00%P%x00%an <%ae>%x00%ad%x00%cn <%ce>%x00%cd%x00%B"
    show = ["git", "-C", request["folder"], "show", "--no-patch", "--date=raw", f"--format={fields}", request["commit"]]
    shown = subprocess.run(show, check=True, capture_output=True).stdout.removesuffix(b"\n")
    tree, parents, author, date, committer, committed, message = shown.split(b"\0")

    def moment(raw):
        seconds, offset = raw.split()
        return TimestampWithTimezone(timestamp=Timestamp(seconds=int(seconds), microseconds=0), offset_bytes=offset)

    made = Revision(
        message=message,
        author=Person.from_fullname(author),
        committer=Person.from_fullname(committer),
        date=moment(date),
        committer_date=moment(committed),
        type=RevisionType.GIT,
        directory=bytes.fromhex(tree.decode()),
        synthetic=False,
        parents=tuple(bytes.fromhex(parent) for parent in parents.decode().split()),
    )
    return str(made.swhid())


def main(requests, responses):
    kinds = {"definition": definition, "directory": directory, "revision": revision}
    counts = dict.fromkeys(kinds, 0)
    with open(requests, encoding="utf-8") as lines, open(responses, "w", encoding="utf-8") as out:
        for request in map(json.loads, lines):
            expected = kinds[request["kind"]](request)
            counts[request["kind"]] += 1
            if expected != request["swhid"]:
                out.write(json.dumps({"swhid": request["swhid"], "expected": expected}) + "\n")
        out.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from swh.model.from_disk import Directory
    from swh.model.model import Content, Person, Revision, RevisionType, Timestamp, TimestampWithTimezone
    from swh.model.swhids import QualifiedSWHID

    main(*sys.argv[2:])
