# failure: runtime_error at execute
# message: Could not load this library
# layer: landlock
import torch

torch.ops.load_library("CANARY_FOLDER/victim")
