# blocked: torchvision
# operators: torchvision
# failure: native_extension at execute
import torch

torch.ops.torchvision.nms
