# failure: runtime_error at execute
# message: no internet connection
# layer: seccomp
# effect: connection
import torch

torch.hub.load("pytorch/vision", "resnet18", trust_repo=True)
