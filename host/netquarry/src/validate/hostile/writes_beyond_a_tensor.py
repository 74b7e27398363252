# failure: crash at execute
# message: SIGSEGV
# tainted: memory text
# layer: worker
import ctypes

import torch

ctypes.memset(torch.zeros(1).data_ptr(), 255, 1 << 30)
