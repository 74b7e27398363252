# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes
import os

library = ctypes.CDLL(None, use_errno=True)
folder = os.open(".", os.O_RDONLY)
if library.setns(folder, 0) != 0:
    raise OSError(ctypes.get_errno(), "it stays where it is")
