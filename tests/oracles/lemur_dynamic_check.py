"""Whether LEMUR can train the models in folders that `emit-lemur` wrote.

    lemur_dynamic_check.py [--jobs N] [--seconds N] [--only PATTERN] [--log FILE] FOLDER...

Every file in FOLDER/nn goes through LEMUR's own dynamic check (`dynamic_evaluation` in nn-dataset's `ab/nn/util/CodeEval.py`,
of which the steps are repeated here): the file is imported, `Net` is constructed for images of 3 x 224 x 224 and ten
classes, set up, and learns two batches of eight. Beyond that the name must be the one that LEMUR computes, the shape of
the scores must be right for other numbers of images and another size of them, a batch of one image must be learnt, the
scores must be finite and depend on the image, and training must change a parameter.

Each model has a process of its own with a limit of processor time, and one of wall-clock time that is ten times as long, so
that none ends the run and a busy machine fails no model. Prints one JSON line for each failure,
with the step at which it failed, then one line for each model whose scores for an image depend on the other images of
the batch in evaluation mode, which is no failure, and last `N models, M accepted`. Exits with 1 where there are failures.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import resource
import select
import signal
import sys
import time
import traceback

import torch

IN_SHAPE = (1, 3, 224, 224)
OUT_SHAPE = (10,)
HYPERPARAMETERS = {"lr": 0.01, "momentum": 0.9, "dropout": 0.5}
MEMORY = 12 << 30


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--only", default="", help="models of which the name matches this regular expression")
    parser.add_argument("--log", type=pathlib.Path, help="a file for one JSON line for each model, accepted or not")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warm_up()
    files = [file for folder in options.folders for file in sorted((folder / "nn").glob("*.py"))]
    files = [file for file in files if re.search(options.only, file.stem)]
    # The smallest first: they are done soon, whatever comes of the largest.
    files.sort(key=lambda file: file.stat().st_size)
    log = options.log and options.log.open("w")
    mixing = []
    accepted = 0
    for file, result in results(files, options.jobs, options.seconds):
        if log:
            print(json.dumps({"model": file.stem, **result}), file=log, flush=True)
        if "failed" in result:
            print(json.dumps({"model": file.stem, **result, **described(file)}), flush=True)
            continue
        accepted += 1
        if result["mixes_samples"]:
            mixing.append(file)
    for file in mixing:
        print(json.dumps({"model": file.stem, "mixes_samples": True, **described(file)}))
    print(f"{len(files)} models, {accepted} accepted")
    sys.exit(accepted < len(files))


def warm_up():
    """Imports what torch imports late, once for all processes."""
    importlib.import_module("torchvision")
    importlib.import_module("PIL.Image")
    parameter = torch.nn.Parameter(torch.zeros(1))
    torch.optim.SGD([parameter], lr=0.1, momentum=0.9).step()


def described(file):
    """What the header says of the block."""
    lines = file.read_text(encoding="utf-8").splitlines()[:8]
    rule = next((line.split()[3] for line in lines if line.startswith("# Wrapping rule:")), None)
    return {"block": lines[0].split()[1], "rule": rule}


def results(files, jobs, seconds):
    """Each file with what its process said, in the order in which they end."""
    waiting = list(reversed(files))
    running = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            file = waiting.pop()
            process, pipe = start(file, seconds)
            running[pipe] = (file, process, time.monotonic() + 10 * seconds)
        ready, _, _ = select.select(list(running), [], [], 0.5)
        for pipe, (file, process, deadline) in list(running.items()):
            is_late = time.monotonic() > deadline
            if pipe not in ready and not is_late:
                continue
            if pipe not in ready:
                os.kill(process, signal.SIGKILL)
            text = b"" if is_late and pipe not in ready else read_all(pipe)
            os.close(pipe)
            _, status = os.waitpid(process, 0)
            del running[pipe]
            lost = "time limit" if is_late or os.WTERMSIG(status) == signal.SIGXCPU else f"the process ended with {status}"
            yield file, json.loads(text) if text else {"failed": "process", "error": lost}


def start(file, seconds):
    """A process that checks a file, and the pipe on which it tells what came of it when it ends."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    os.close(reading)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    os.write(writing, json.dumps(checked(file)).encode())
    os._exit(0)


def read_all(pipe):
    parts = []
    while part := os.read(pipe, 1 << 16):
        parts.append(part)
    return b"".join(parts)


def checked(file):
    check = Check(file)
    try:
        return {"mixes_samples": check.run()}
    except BaseException as error:  # A model may raise whatever it likes.
        places = traceback.extract_tb(error.__traceback__)
        place = f"{places[-1].name}: {places[-1].line}" if places else None
        text = f"{type(error).__name__}: {error}"[:400]
        return {"failed": check.step, "error": text, "at": place}


class Wrong(Exception):
    """A model runs and does not do what it should."""


class Check:
    def __init__(self, file):
        self.file = file
        self.step = "name"

    def run(self):
        """Whether the scores for an image depend on the others; raises where something is wrong."""
        code = self.file.read_text(encoding="utf-8")
        if self.file.stem.partition("-")[2] != uuid4(code):
            raise Wrong("the name is not the digest of the code")
        torch.manual_seed(0)
        net = self.learnt()
        self.step = "batch of one"
        net.learn([(torch.randn(1, 3, 224, 224), torch.zeros(1, dtype=torch.long))])
        with torch.no_grad():
            self.depends(net)
            net.eval()
            return self.scored(net)

    def learnt(self):
        """LEMUR's steps."""
        self.step = "import"
        spec = importlib.util.spec_from_file_location("model_module", self.file)
        module = importlib.util.module_from_spec(spec)
        # As an import does, which is how LEMUR loads a model: dataclasses look their module up.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        if set(module.supported_hyperparameters()) != {"lr", "momentum"}:
            raise Wrong("the hyperparameters are others")
        self.step = "construct"
        device = torch.device("cpu")
        net = module.Net(IN_SHAPE, OUT_SHAPE, HYPERPARAMETERS, device)
        net.to(device)
        self.step = "train_setup"
        net.train_setup(HYPERPARAMETERS)
        self.step = "learn"
        images = torch.randn(8, *IN_SHAPE[1:])
        labels = torch.randint(0, OUT_SHAPE[0], (8,))
        before = [parameter.detach().clone() for parameter in net.parameters()]
        net.learn([(images, labels), (images, labels)])
        if all(torch.equal(old, new) for old, new in zip(before, net.parameters())):
            raise Wrong("training changed no parameter")
        return net

    def depends(self, net):
        """In training mode, since what normalises has seen too little for any other; the same random numbers are drawn."""
        self.step = "depends on the image"
        scores = []
        for images in (images_of(1), images_of(2)):
            torch.manual_seed(3)
            scores.append(net(images[:2]))
        if (scores[0] - scores[1]).abs().max() <= 1e-6 * scores[0].abs().max():
            raise Wrong("all images have the same scores")

    def scored(self, net):
        self.step = "forward"
        images = images_of(4)
        scores = net(images.clone())
        if tuple(scores.shape) != (8, OUT_SHAPE[0]):
            raise Wrong(f"the scores have the shape {tuple(scores.shape)}")
        if not torch.isfinite(scores).all():
            raise Wrong("the scores are not finite")
        self.step = "other batches"
        few = net(images[:3].clone())
        if tuple(few.shape) != (3, OUT_SHAPE[0]):
            raise Wrong(f"the scores of three images have the shape {tuple(few.shape)}")
        self.step = "other sizes"
        if tuple(net(images[:2, :, :32, :32].clone()).shape) != (2, OUT_SHAPE[0]):
            raise Wrong("the scores of smaller images have another shape")
        return bool((few - scores[:3]).abs().max() > 1e-5 + 0.01 * (scores - scores[:1]).abs().max())


def images_of(seed):
    """Images that differ in brightness and contrast: of noise alone every mean is the same."""
    noise = torch.randn(8, *IN_SHAPE[1:], generator=torch.Generator().manual_seed(seed))
    generator = torch.Generator().manual_seed(seed + 100)
    contrast, brightness = torch.rand(2, 8, 1, 1, 1, generator=generator)
    return noise * (contrast + 0.2) + 2 * brightness - 1


def uuid4(obj):
    """LEMUR's function of this name, as it stands in `ab/nn/util/Util.py`."""
    s = re.sub('\\s', '', str(obj))
    res = hashlib.md5(s.encode())
    return res.hexdigest()


if __name__ == "__main__":
    main()
