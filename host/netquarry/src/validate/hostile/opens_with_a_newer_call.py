# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
"""Its arguments lie in memory, where no filter can look."""
import ctypes

OPENAT2 = 437
library = ctypes.CDLL(None, use_errno=True)
how = (ctypes.c_uint64 * 3)()
if library.syscall(OPENAT2, -100, b"CANARY_FOLDER/secret", how, ctypes.sizeof(how)) < 0:
    raise OSError(ctypes.get_errno(), "it is not opened")
