# failure: memory at execute
import torch

torch.ones(1 << 40)
