"""What looks alike: sys._getframe, gc.get_objects and torch.Tensor.backward = None are only written about."""
import collections
import dataclasses
import functools
import gc
import inspect
import logging
import os
import random
import signal
import sys
import typing
import warnings

import torch
import torch.nn as nn
from scipy import signal as scipy_signal
from somewhere import settings

if typing.TYPE_CHECKING:
    from ctypes import CDLL

    library: CDLL

Point = collections.namedtuple("Point", "x y")
this = sys.modules[__name__]
setattr(this, "alias", Point)
setattr(sys.modules[__name__], "alias", Point)
sys.path.insert(0, os.path.dirname(__file__))
sys.stdout = sys.stderr
os.environ["OMP_NUM_THREADS"] = "1"
torch.backends.cudnn.benchmark = True
torch.backends.cuda.matmul.allow_tf32 = True
torch._dynamo.config.cache_size_limit = 8
warnings.formatwarning = lambda message, *_: str(message)
logging.root.level = logging.INFO
settings.torch = torch
random.seed(0)


@dataclasses.dataclass
class Configuration:
    signal: int = signal.SIGTERM
    gc: bool = False


class Net(nn.Module):
    def __init__(self, torch_dtype=torch.float32):
        super().__init__()
        self.torch = torch
        self.torch.dtype = torch_dtype
        self.conv = nn.Conv2d(1, 1, 1)
        self.conv.weight.data[0] = torch.zeros(1)
        self.conv.register_forward_hook(lambda *_: None)
        setattr(self, "signal", scipy_signal.stft)
        setattr(self.conv, "bias", None)
        self.kernels = "f_" + "back"

    def forward(self, x, modules=sys.modules):
        gc.collect()
        names = inspect.signature(self.forward).parameters
        inspect.getsource(type(self))
        torch.zeros(2)[0] = 1
        mask = torch.ones(2)
        mask[0] = 0
        signal = x.stack
        signal.alarm = 1
        traceback = sys.exc_info()[2]
        caller = logging.getLogger().findCaller()
        return self.conv(x), functools.partial(print, names), "torch" in modules, traceback, caller


if __name__ == "__main__":
    sys.settrace(None)
    sys._getframe().f_back
