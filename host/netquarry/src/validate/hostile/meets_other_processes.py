# failure: runtime_error at execute
# message: DistNetworkError
# layer: seccomp
# effect: listener
import torch

torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:CANARY_FREE_PORT", rank=0, world_size=1)
