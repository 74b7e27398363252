"""Whether chat records are ones that NN-GPT and NN-DUP's ChatPrep take as they are: plain Python 3.11 or later.

    python -I chat_records.py FOLDER [NN_DUP]

`FOLDER` has `train.jsonl`, `dev.jsonl` and `test.jsonl`, and a `manifest.json`. What is wrong with a record goes to the
error output, a line of figures to the output; the exit status is 1 if anything is wrong. `NN_DUP` is a folder with the
package `ab.chatprep` of nn-dup 2.2.4, whose own filter and summary have to agree then.

The rules, by name:

- `schema`: a line is JSON; the keys of a record, of its messages and of `meta`, in ChatPrep's order, and their types;
- `roles`: system, user, assistant;
- `fence`: the answer is one Python code fence, and what a reader cuts out between its ends is all that is in it;
- `marker`: no text holds what chat templates have for the ends of messages;
- `parse`: `ast` reads the code;
- `module`: some class has a base that is written `Module`;
- `signals`: `meta` says what ChatPrep would find in the code;
- `task`: a `full` record asks for a class that the code defines, in words;
- `infill`: the question is the code with the body of one `forward` replaced by `raise NotImplementedError`, byte by byte;
- `identity`: an identifier is a UUID, and only one record has it;
- `split`: no source has records in two files, and where the manifest groups by source, no distribution has;
- `pair`: an `infill` record comes directly behind the `full` one of the same code;
- `manifest`: its counts are those of the files;
- `readers`: no file is empty, since NN-GPT takes its prompt from the first record of `test.jsonl`.
"""

import ast
import collections
import json
import os
import re
import sys
import uuid

SPLITS = ("train", "dev", "test")
SIGNALS = {"has_module": bool, "family": str, "param_estimate": int, "class_names": list, "calls": list}
META = ("source_path", *SIGNALS, "type")
FENCE = re.compile(r"```python\s*(.*?)```", re.DOTALL)
FAMILIES_BY_WORD = {
    "fractal": ("fractalblock", "fractalunit", "fractal_fn"),
    "mobile": ("depthwise", "mobilenet"),
    "resnet": ("residual", "basicblock", "bottleneck", "add", "identity"),
    "densenet": ("dense",),
}
FAMILIES_BY_CALL = {
    "transformer": ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer"),
    "vgg": ("MaxPool2d",),
}
FAMILIES = ("fractal", "transformer", "mobile", "resnet", "densenet", "vgg")


def main(folder, nn_dup=None):
    records = {split: read(os.path.join(folder, f"{split}.jsonl")) for split in SPLITS}
    everything = [record for split in SPLITS for record in records[split]]
    faults = collections.Counter()
    refused = set()

    def refuse(place, rule, why):
        faults[rule] += 1
        refused.add(place)
        print(f"{place}: {rule}: {why}", file=sys.stderr)

    for place, record in everything:
        for rule, why in faults_of(record):
            refuse(place, rule, why)
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for place, rule, why in faults_between(records, manifest):
        refuse(place, rule, why)
    for rule, why in faults_of_folder(records, manifest):
        refuse(folder, rule, why)
    if nn_dup is not None:
        sys.path.insert(0, nn_dup)
        for place, why in refused_by_chatprep(everything):
            refuse(place, "chatprep", why)

    accepted = sum(place not in refused for place, _ in everything)
    kinds = collections.Counter(kind_of(record) for _, record in everything)
    figures = [
        f"{len(everything)} records",
        f"{accepted} accepted",
        *(f"{len(records[split])} {split}" for split in SPLITS),
        *(f"{count} {kind}" for kind, count in sorted(kinds.items())),
        *(f"{count} {rule}" for rule, count in sorted(faults.items())),
    ]
    print(", ".join(figures))
    return 1 if refused else 0


def read(path):
    """Records with their places. A line is one as NN-GPT reads it, with blanks around it taken away."""
    with open(path, encoding="utf-8") as lines:
        numbered = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    return [(f"{os.path.basename(path)}:{number}", value(line)) for number, line in numbered if line]


def value(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


def kind_of(record):
    meta = record.get("meta") if isinstance(record, dict) else None
    return str(meta.get("type")) if isinstance(meta, dict) else "None"


def faults_of(record):
    """What is wrong with a record, whatever the others are."""
    schema = schema_fault(record)
    if schema:
        # The other rules take the schema for granted.
        return [("schema", schema)]
    system, user, assistant = record["messages"]
    faults = []
    if [message["role"] for message in record["messages"]] != ["system", "user", "assistant"]:
        faults.append(("roles", "they are not system, user, assistant"))
    code, why = fenced(assistant["content"])
    if why:
        return [*faults, ("fence", why)]
    for message in record["messages"]:
        if "<|" in message["content"] or "<｜" in message["content"]:
            faults.append(("marker", f"the {message['role']} message holds one"))
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError) as error:
        return [*faults, ("parse", str(error))]
    expected = signals_of(tree, code)
    if not expected["has_module"]:
        faults.append(("module", "no class has a base Module"))
    for name, value in expected.items():
        if record["meta"][name] != value:
            faults.append(("signals", f"{name} is {record['meta'][name]!r}, not {value!r}"))
    if not system["content"].strip():
        faults.append(("task", "the system message is empty"))
    if record["meta"]["type"] == "full":
        if not set(re.findall(r"\bclass (\w+)", user["content"])) & set(expected["class_names"]):
            faults.append(("task", "no class of the code is asked for"))
    else:
        why = infill_fault(user["content"], code, tree)
        if why:
            faults.append(("infill", why))
    try:
        if str(uuid.UUID(record["id"])) != record["id"]:
            faults.append(("identity", "the UUID is not in its usual form"))
    except ValueError:
        faults.append(("identity", "it is no UUID"))
    return faults


def schema_fault(record):
    if not isinstance(record, dict) or list(record) != ["id", "messages", "meta"]:
        return "it is no object of id, messages and meta"
    if not isinstance(record["id"], str):
        return "the identifier is no string"
    messages, meta = record["messages"], record["meta"]
    if not isinstance(messages, list) or len(messages) != 3:
        return "there are not three messages"
    for message in messages:
        if not isinstance(message, dict) or list(message) != ["role", "content"]:
            return "the keys of a message are not role, content"
        if not all(isinstance(value, str) for value in message.values()):
            return "a role or content is no string"
    if not isinstance(meta, dict) or tuple(meta) != META:
        return f"the keys of meta are not {', '.join(META)}"
    for name, kind in SIGNALS.items():
        if type(meta[name]) is not kind:
            return f"{name} is no {kind.__name__}"
    if not isinstance(meta["source_path"], str) or not meta["source_path"]:
        return "there is no source_path"
    if not all(isinstance(name, str) for name in meta["class_names"] + meta["calls"]):
        return "a name is no string"
    if meta["type"] not in ("full", "infill"):
        return "the type is neither full nor infill"
    return None


def fenced(answer):
    """The code, and why a reader would get another one."""
    if not answer.startswith("```python\n") or not answer.endswith("\n```"):
        return None, "the answer is not one fence"
    written = answer[len("```python\n") : -len("\n```")]
    if answer.count("```") != 2:
        return None, "there are other fences in it"
    found = [code.strip() for code in FENCE.findall(answer)]
    if found != [written]:
        return None, "a reader would cut it"
    return written, None


def signals_of(tree, code):
    """What ChatPrep's summary of a source says, restated."""
    calls, classes, estimate, has_module = [], set(), 0, False
    for node in in_order(tree):
        if isinstance(node, ast.ClassDef):
            classes.add(node.name)
            has_module |= any(last_part(base) == "Module" for base in node.bases)
        elif isinstance(node, ast.Call) and last_part(node.func):
            name = last_part(node.func)
            calls.append(name)
            if name == "Linear":
                estimate += integer(node, "in_features", 0) * integer(node, "out_features", 1)
            elif name == "Conv2d":
                channels = integer(node, "in_channels", 0) * integer(node, "out_channels", 1)
                try:
                    estimate += channels * kernel_size(node) ** 2 if channels else 0
                except (TypeError, ValueError):
                    pass
    family = next((family for family in FAMILIES if shows(family, code.lower(), calls)), "generic")
    return {
        "has_module": has_module,
        "family": family,
        "param_estimate": estimate,
        "class_names": sorted(classes),
        "calls": calls,
    }


def in_order(node):
    """A node and all under it, as `ast.NodeVisitor` comes to them; `ast.walk` has another order."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from in_order(child)


def last_part(expression):
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def shows(family, code, calls):
    words, names = FAMILIES_BY_WORD.get(family, ()), FAMILIES_BY_CALL.get(family, ())
    return any(word in code for word in words) or any(name in calls for name in names)


def integer(call, keyword, position):
    for value in arguments(call, keyword, position):
        if is_integer(value):
            return int(value.value)
    return 0


def kernel_size(call):
    for value in arguments(call, "kernel_size", 2):
        if is_integer(value):
            return int(value.value)
        if isinstance(value, ast.Tuple) and value.elts and isinstance(value.elts[0], ast.Constant):
            return int(value.elts[0].value)
    return 3


def arguments(call, keyword, position):
    yield from (given.value for given in call.keywords if given.arg == keyword)
    yield from call.args[position : position + 1]


def is_integer(value):
    return isinstance(value, ast.Constant) and isinstance(value.value, int)


def infill_fault(question, code, tree):
    """Why the question is not the code without the body of one `forward`."""
    try:
        masked = ast.parse(question)
    except (SyntaxError, ValueError) as error:
        return f"the question does not parse: {error}"
    before, after = os.path.commonprefix([question, code]), os.path.commonprefix([question[::-1], code[::-1]])
    if len(before) + len(after) + len("raise NotImplementedError") < len(question):
        return "the question differs from the code in more than one place"
    # What is above the mask is the same in both, so that the function is where it was.
    functions = {node.lineno: node for node in ast.walk(tree) if is_forward(node)}
    for replaced in [node for node in ast.walk(masked) if is_forward(node)]:
        if ast.unparse(replaced.body) == "raise NotImplementedError" and replaced.lineno in functions:
            mask, replaced.body = replaced.body, functions[replaced.lineno].body
            # Where the tree with this body is the code's, this is the only thing that differs.
            if ast.dump(masked) == ast.dump(tree):
                return None
            replaced.body = mask
    return "the question is not the code with one forward masked"


def is_forward(node):
    return isinstance(node, ast.FunctionDef) and node.name == "forward"


def faults_between(records, manifest):
    identifiers, splits = {}, {}
    is_by_source = manifest.get("config", {}).get("group_by") == "source"
    for split, lines in records.items():
        previous = None
        for place, record in lines:
            if schema_fault(record):
                continue
            first = identifiers.setdefault(record["id"], place)
            if first != place:
                yield place, "identity", f"{first} has the same identifier"
            source = record["meta"]["source_path"]
            if is_by_source:
                source = source.partition("/")[0]
            if splits.setdefault(source, split) != split:
                yield place, "split", f"{source} is in {splits[source]}, too"
            if record["meta"]["type"] == "infill" and not is_pair(previous, record):
                yield place, "pair", "the record before it is not the full one of the same code"
            previous = record


def is_pair(full, infill):
    if full is None or full["meta"] != {**infill["meta"], "type": "full"}:
        return False
    return full["messages"][2] == infill["messages"][2]


def faults_of_folder(records, manifest):
    for split, lines in records.items():
        if not lines:
            yield "readers", f"{split}.jsonl has no record"
    sources = {
        split: {record["meta"]["source_path"] for _, record in lines if not schema_fault(record)}
        for split, lines in records.items()
    }
    expected = {
        "counts": {split: len(lines) for split, lines in records.items()},
        "total_examples": sum(map(len, records.values())),
        "unique_sources": len(set().union(*sources.values())),
        "overlap": {
            f"{one}_{other}": len(sources[one] & sources[other])
            for one, other in (("train", "dev"), ("train", "test"), ("dev", "test"))
        },
    }
    if manifest.get("summary") != expected:
        yield "manifest", f"the summary is {manifest.get('summary')}, not {expected}"


def refused_by_chatprep(everything):
    """What nn-dup's own code makes of the records."""
    from ab.chatprep.detectors.ast_signals import summarize_source
    from ab.chatprep.prompt_builder import ChatPrepConfig

    for place, record in everything:
        if schema_fault(record):
            continue
        answer = record["messages"][2]["content"]
        kept, dropped = ChatPrepConfig()._sanitize_and_filter([json.loads(json.dumps(record))])
        if dropped:
            yield place, dropped[0]["_drop_reason"]
        elif kept[0]["messages"][2]["content"] != answer:
            yield place, "the answer was cut"
        else:
            code = answer.removeprefix("```python\n").removesuffix("\n```")
            expected = {"source_path": record["meta"]["source_path"], **summarize_source(code)}
            if record["meta"] != {**expected, "type": record["meta"]["type"]}:
                yield place, f"meta is {record['meta']}, not {expected}"


if __name__ == "__main__":
    sys.setrecursionlimit(100_000)
    sys.exit(main(*sys.argv[1:]))
