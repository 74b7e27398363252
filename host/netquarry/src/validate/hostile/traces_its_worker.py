# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: worker
import ctypes
import os

ATTACH = 16
library = ctypes.CDLL(None, use_errno=True)
if library.ptrace(ATTACH, os.getppid(), None, None) != 0:
    raise OSError(ctypes.get_errno(), "nothing is traced")
