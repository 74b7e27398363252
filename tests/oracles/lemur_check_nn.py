"""What LEMUR's own `check_nn` says of models that `emit-lemur` wrote.

    lemur_check_nn.py --nn-dataset WHEEL [--metric-wheel WHEEL] [--without-pylint] [--epochs N] [--images N] MODEL...

`WHEEL` is nn-dataset 2.2.11 from PyPI; it has no metrics, so that `ab/nn/metric/acc.py` is taken from the wheel of 2.1.2 that
`--metric-wheel` names, where one is given, and otherwise written here. The interpreter needs what nn-dataset imports: torch,
torchvision, datasketch, pandas<3, optuna, tqdm, scipy, psutil, einops, pycocotools, requests, huggingface_hub, radon, pylint
and zstandard.

`check_nn` runs in a temporary folder, offline and unchanged, with a loader of ten separable classes of images of 32 x 32
pixels. The generator of torch starts from a fixed seed, so that a model is not accepted in one run and refused in the next.
It raises where a model is not better than chance by a fifth, after its first epoch already: deep networks that normalise by
what they have seen want more images than a block does. Prints for each model its name, accuracy and quality as JSON, or why
it was not accepted; last `N models, M accepted`. Exits with 1 where one was not.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

LOADER = '''
"""Ten classes of images that differ in colour and in the direction of stripes."""
import torch
from torch.utils.data import TensorDataset


def images_of(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 10
    places = torch.arange(32) / 32 * 2 * torch.pi
    stripes = torch.stack([torch.sin((label % 5 + 1) * places) for label in range(10)])[labels]
    rows = stripes[:, None, :, None].expand(-1, 3, 32, 32)
    columns = stripes[:, None, None, :].expand(-1, 3, 32, 32)
    images = torch.where((labels < 5)[:, None, None, None], rows, columns).clone()
    colours = torch.rand(10, 3, generator=torch.Generator().manual_seed(0)) * 4 - 2
    images += colours[labels][:, :, None, None]
    return TensorDataset(images + 0.3 * torch.randn(images.shape, generator=generator), labels)


def loader(transform_fn, task):
    return (10,), 0.1, images_of(IMAGES, 1), images_of(100, 2)
'''

METRIC = '''
import torch


class Accuracy:
    def __init__(self):
        self.reset()

    def reset(self):
        self.correct, self.total = 0, 0

    def update(self, preds, labels):
        self.correct += (preds.argmax(1) == labels).sum().item()
        self.total += labels.size(0)

    def __call__(self, preds, labels):
        self.update(preds, labels)

    def result(self):
        return self.correct / max(self.total, 1)

    def get_all(self):
        return {"acc": self.result()}


def create_metric(out_shape=None):
    return Accuracy()
'''

CALL = """
import json, pathlib, sys
import torch
torch.manual_seed(0)
sys.path.insert(0, ".")
from ab.nn.api import check_nn
code = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
prm = {"lr": 0.01, "momentum": 0.9, "batch": 32, "epoch": int(sys.argv[2]), "transform": "norm_32", "num_workers": 0}
name, accuracy, _, quality = check_nn(code, "img-classification", "synth10", "acc", prm, prefix="rag")
pathlib.Path(sys.argv[3]).write_text(json.dumps({"name": name, "accuracy": accuracy, "quality": quality}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nn-dataset", required=True, type=pathlib.Path)
    parser.add_argument("--metric-wheel", type=pathlib.Path)
    parser.add_argument("--without-pylint", action="store_true", help="much faster; the quality is then 0.0")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--images", type=int, default=321, help="those of an epoch")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        prepare(root, options)
        for model in options.models:
            said = check(root, model.resolve(), options)
            said["accepted"] = said.get("name") == model.stem
            accepted += said["accepted"]
            print(json.dumps({"model": model.stem, **said}), flush=True)
    print(f"{len(options.models)} models, {accepted} accepted")
    sys.exit(accepted < len(options.models))


def prepare(root, options):
    """The wheel in a folder of its own, in which importing it asks nothing of the network."""
    with zipfile.ZipFile(options.nn_dataset) as wheel:
        wheel.extractall(root)
    # It marks the root, without which the database stands in the folder above.
    (root / "README.md").touch()
    # Where this is missing, the database is downloaded.
    (root / "ab/nn/stat/train").mkdir(parents=True, exist_ok=True)
    (root / "ab/nn/loader/synth10.py").write_text(LOADER.replace("IMAGES", str(options.images)))
    metric = root / "ab/nn/metric/acc.py"
    metric.parent.mkdir(exist_ok=True)
    if options.metric_wheel:
        with zipfile.ZipFile(options.metric_wheel) as wheel:
            metric.write_bytes(wheel.read("ab/nn/metric/acc.py"))
    elif not metric.exists():
        metric.write_text(METRIC)


def check(root, model, options):
    # Threads that wait for each other on a busy machine take longer than one.
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    path = [os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)]
    if options.without_pylint:
        path = [part for part in path if not os.path.exists(os.path.join(part, "pylint"))]
    environment["PATH"] = os.pathsep.join(path)
    answer = root / "answer.json"
    answer.unlink(missing_ok=True)
    command = [sys.executable, "-c", CALL, str(model), str(options.epochs), str(answer)]
    ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if ended.returncode or not answer.exists():
        lines = ended.stderr.strip().splitlines() or [f"ended with {ended.returncode}"]
        return {"error": lines[-1][:400]}
    return json.loads(answer.read_text())


if __name__ == "__main__":
    main()
