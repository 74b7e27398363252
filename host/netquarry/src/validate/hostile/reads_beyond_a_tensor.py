# failure: runtime_error at execute
# message: setStorage
# layer: worker
import torch

torch.as_strided(torch.zeros(1), (1 << 40,), (1 << 20,)).sum()
