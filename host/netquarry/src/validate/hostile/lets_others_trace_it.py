# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes

SET_DUMPABLE = 4
library = ctypes.CDLL(None, use_errno=True)
if library.prctl(SET_DUMPABLE, 1, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "it stays closed")
