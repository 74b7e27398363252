# failure: process_state at execute
# message: SystemExit: 0
# tainted: tracing both
# layer: worker
import sys
import threading

from torch import nn


def trace(frame, event, argument):
    raise SystemExit(0)


class Block(nn.Module):
    def forward(self, x):
        return x


sys.settrace(trace)
sys.setprofile(trace)
