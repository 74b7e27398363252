# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: processes
import time

import torch

torch.multiprocessing.get_context("fork").Process(target=time.sleep, args=(1000,)).start()
