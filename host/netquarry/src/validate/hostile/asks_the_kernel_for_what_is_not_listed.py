# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
"""A call that no kernel has: the list is of what is allowed."""
import ctypes

library = ctypes.CDLL(None, use_errno=True)
if library.syscall(4000) != 0:
    raise OSError(ctypes.get_errno(), "nobody answers")
