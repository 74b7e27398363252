# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
"""What is asked for through a ring passes no filter."""
import ctypes

SETUP = 425
library = ctypes.CDLL(None, use_errno=True)
parameters = (ctypes.c_uint32 * 30)()
if library.syscall(SETUP, 8, parameters) < 0:
    raise OSError(ctypes.get_errno(), "there is no ring")
