# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: worker
import ctypes

PIDFD_GETFD = 438
library = ctypes.CDLL(None, use_errno=True)
if library.syscall(PIDFD_GETFD, 0, 3, 0) < 0:
    raise OSError(ctypes.get_errno(), "there is nothing to take")
