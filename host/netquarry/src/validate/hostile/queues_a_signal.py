# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: worker
import ctypes
import os
import signal

library = ctypes.CDLL(None, use_errno=True)
if library.sigqueue(os.getppid(), signal.SIGKILL, None) != 0:
    raise OSError(ctypes.get_errno(), "no signal was sent")
