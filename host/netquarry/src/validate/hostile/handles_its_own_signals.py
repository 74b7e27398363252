# level: forward
# tainted: signals text
# layer: none
# benign: yes
import signal
import time

from torch import nn

came = []
before = signal.signal(signal.SIGALRM, lambda number, frame: came.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.01)
while not came:
    time.sleep(0.005)
signal.signal(signal.SIGALRM, before)


class Block(nn.Module):
    def forward(self, x):
        return x * len(came)
