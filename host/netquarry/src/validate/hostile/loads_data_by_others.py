# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: processes
import torch

list(torch.utils.data.DataLoader(range(8), num_workers=2))
