# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes

NEW_USER = 0x10000000
library = ctypes.CDLL(None, use_errno=True)
if library.unshare(NEW_USER) != 0:
    raise OSError(ctypes.get_errno(), "there is no other namespace")
