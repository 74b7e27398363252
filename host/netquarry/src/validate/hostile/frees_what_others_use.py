# failure: crash at execute
# tainted: memory running, memory text
# layer: worker
import ctypes

import torch

library = ctypes.CDLL(None)
library.free(ctypes.c_void_p(torch.zeros(1).data_ptr()))
library.free(ctypes.c_void_p(id(torch)))
