# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: worker
"""The kernel lets a process signal a single thread of another by a call that `abort` needs too."""
import ctypes
import os
import platform

TGKILL = {"x86_64": 234, "aarch64": 131}[platform.machine()]
library = ctypes.CDLL(None, use_errno=True)
if library.syscall(TGKILL, os.getppid(), os.getppid(), 9) != 0:
    raise OSError(ctypes.get_errno(), "no signal was sent")
