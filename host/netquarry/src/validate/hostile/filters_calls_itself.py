# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes

SET_SECCOMP = 22
library = ctypes.CDLL(None, use_errno=True)
if library.prctl(SET_SECCOMP, 1, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "the filter is the last one")
