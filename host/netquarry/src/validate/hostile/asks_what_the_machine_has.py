# level: forward
# layer: none
# benign: yes
import locale
import os
import platform
import resource
import shutil
import sys
import time

import torch
from torch import nn

facts = [platform.platform(), platform.machine(), os.cpu_count(), len(os.sched_getaffinity(0)), os.getloadavg]
facts += [torch.get_num_threads(), torch.cuda.is_available(), torch.__config__.show(), sys.version]
facts += [resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrusage(resource.RUSAGE_SELF), time.localtime()]
facts += [shutil.disk_usage("."), locale.getlocale(), os.getuid(), os.environ["HOME"], os.urandom(4)]


class Block(nn.Module):
    def forward(self, x):
        return x * len(facts)
