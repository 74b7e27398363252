# failure: runtime_error at execute
# message: nothing is shared
# layer: landlock
# effect: processes
import torch

try:
    torch.zeros(1 << 10).share_memory_()
except RuntimeError:
    # The name of the memory has a number in it that differs from run to run.
    raise RuntimeError("nothing is shared") from None
