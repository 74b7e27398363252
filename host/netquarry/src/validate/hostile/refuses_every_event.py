# level: execute
# note: arguments_not_found: construct: no_report with guessed arguments
# tainted: tracing both
# layer: worker
import sys

from torch import nn


def refuse(event, arguments):
    raise SystemExit(0)


class Block(nn.Module):
    def forward(self, x):
        return x


sys.addaudithook(refuse)
