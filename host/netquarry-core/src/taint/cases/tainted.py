import builtins
import ctypes as c
import gc
import importlib
import inspect
import os
import random
import signal
import sys as _sys
import threading
import torch
import torch.nn as nn
import torch.nn.functional as F
from inspect import stack
from sys import _getframe as here
from torch import Tensor


def frames():
    _sys._getframe(1)  # frames sys._getframe
    here()  # frames sys._getframe
    stack()[1].filename  # frames inspect.stack
    inspect.currentframe().f_back.f_locals  # frames .f_back, frames .f_locals, frames inspect.currentframe
    _sys.exc_info()[2].tb_frame  # frames .tb_frame
    get = getattr
    get(_sys, "_getframe")  # frames "_getframe"
    own = _sys
    own._current_frames()  # frames ._current_frames
    (x for x in ()).gi_frame  # frames .gi_frame


def collector():
    gc.get_objects()  # collector gc.get_objects
    gc.callbacks.append(print)  # collector gc.callbacks
    everything = gc  # collector gc
    importlib.import_module("gc").get_objects()  # collector "gc"
    __import__("gc").disable()  # collector "gc"


def tracing():
    import sys

    sys.settrace(None)  # tracing sys.settrace
    threading.setprofile(None)  # tracing threading.setprofile
    sys.monitoring.use_tool_id(0, "")  # tracing sys.monitoring
    sys.addaudithook(print)  # tracing sys.addaudithook


class Signals:
    signal.signal(signal.SIGALRM, print)  # signals signal.signal
    signal.alarm(1)  # signals signal.alarm
    signal.pidfd_send_signal(3, 9)  # signals signal.pidfd_send_signal

    def end(self):
        os.kill(os.getpid(), signal.SIGKILL)  # signals os.kill
        os._exit(0)  # exit os._exit


def memory():
    c.string_at(id(1), 8)  # memory ctypes.string_at
    from ctypes import CDLL

    CDLL(None)  # memory ctypes.CDLL


def modules(name, value):
    _sys.modules[name] = value  # modules sys.modules
    _sys.modules.setdefault(name, value)  # modules sys.modules.setdefault
    del _sys.modules[name]  # modules sys.modules
    _sys.meta_path.insert(0, value)  # modules sys.meta_path
    builtins.print = value  # modules builtins.print
    setattr(builtins, name, value)  # modules builtins
    __builtins__["open"] = value  # modules builtins.__builtins__
    os.write = value  # modules os.write
    random.random, value = value, random.random  # modules random.random
    _sys.modules["netquarry_worker.report"].Report  # modules "netquarry_worker.report"


def changes(name, value):
    torch.isfinite = value  # torch torch.isfinite
    nn.Module.__call__ = value  # torch torch.nn.Module.__call__
    Tensor.backward = value  # torch torch.Tensor.backward
    setattr(nn.Linear, name, value)  # torch torch.nn.Linear
    setattr( # whatever stands here
        F, name, value  # torch torch.nn.functional
    )
    delattr(torch.Tensor, name)  # torch torch.Tensor
    object.__setattr__(torch, name, value)  # torch torch
    torch.__dict__[name] = value  # torch torch.__dict__
    with value as torch.allclose:  # torch torch.allclose
        pass
    torch.nn.Linear.forward.__code__ = value.__code__  # torch torch.nn.Linear.forward.__code__
    del torch.Tensor.sum  # torch torch.Tensor.sum
