# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes
import platform

PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[platform.machine()]
library = ctypes.CDLL(None, use_errno=True)
if library.syscall(PIVOT_ROOT, b".", b".") != 0:
    raise OSError(ctypes.get_errno(), "the root stays")
