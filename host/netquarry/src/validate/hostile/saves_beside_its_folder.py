# failure: runtime_error at execute
# message: Permission denied
# layer: landlock
# effect: file
import torch

torch.save(torch.zeros(1), "CANARY_FOLDER/planted")
