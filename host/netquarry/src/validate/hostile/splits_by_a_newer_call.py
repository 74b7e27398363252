# failure: runtime_error at execute
# message: Function not implemented
# tainted: exit text, memory running, memory text
# layer: seccomp
# effect: processes
import ctypes
import os

CLONE3 = 435
library = ctypes.CDLL(None, use_errno=True)
arguments = (ctypes.c_uint64 * 11)()
child = library.syscall(CLONE3, arguments, ctypes.sizeof(arguments))
if child == 0:
    os._exit(0)
if child > 0:
    raise RuntimeError("there are two of it")
raise RuntimeError(os.strerror(ctypes.get_errno()))
