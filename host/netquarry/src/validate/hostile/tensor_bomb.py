# failure: memory at execute
# layer: rlimits
import torch

torch.ones(1 << 40)
