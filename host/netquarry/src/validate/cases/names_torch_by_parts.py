# level: construct
# tainted: frames running, torch running
import sys

import torch
from torch import nn


def changed(tensor):
    return tensor


setattr(vars(sys.modules["to" + "rch"])["nn"].functional, "re" + "lu", changed)
exec("caller = getattr(sys, '_getfr' + 'ame')(0)")


class Block(nn.Module):
    pass
