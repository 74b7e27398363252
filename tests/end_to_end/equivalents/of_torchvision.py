"""Holds what a shim puts in the place of torchvision's look for its library against torchvision.

Arguments: the folder of shim-torchvision; torchvision itself is installed.
"""

import pathlib
import runpy
import sys
import types
import unittest.mock

import torch
from torchvision import extension

sys.path.append(str(pathlib.Path(__file__).parent))
from story import Shim  # noqa: E402

SHIM = Shim(sys.argv[1])


@SHIM.holds("torchvision.extension._has_ops")
def operators():
    """Says what upstream says where the operators are, and what it says without a library where there are none."""
    ours = SHIM.define("torchvision.extension._has_ops")
    assert ours() is extension._has_ops() is True
    assert torch.jit.script(ours)() is torch.jit.script(extension._has_ops)() is True
    with unittest.mock.patch.object(torch, "ops", types.SimpleNamespace(torchvision=types.SimpleNamespace())):
        ours = SHIM.define("torchvision.extension._has_ops")
    with unittest.mock.patch.object(torch.ops, "load_library", side_effect=OSError):
        upstream = runpy.run_path(extension.__file__, run_name=extension.__name__)["_has_ops"]
    assert ours() is upstream() is False
    assert torch.jit.script(ours)() is torch.jit.script(upstream)() is False


SHIM.run()
