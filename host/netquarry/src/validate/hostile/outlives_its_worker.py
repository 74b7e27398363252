# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: processes
"""The signal that ends a process with its parent stays as it was set."""
import ctypes

SET_SIGNAL_AT_END_OF_PARENT = 1
library = ctypes.CDLL(None, use_errno=True)
if library.prctl(SET_SIGNAL_AT_END_OF_PARENT, 0, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "it ends with its worker")
