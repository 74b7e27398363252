# level: forward
# layer: none
# benign: yes
import concurrent.futures
import queue
import threading

from torch import nn

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    squares = list(pool.map(lambda number: number * number, range(8)))
answers = queue.Queue()
thread = threading.Thread(target=answers.put, args=(1,))
thread.start()
thread.join()
answer = answers.get()


class Block(nn.Module):
    def forward(self, x):
        return x * squares[answer]
