# failure: device_only at execute
import torch

torch.zeros(1).cuda()
