# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory both, memory running, memory text
# layer: seccomp
# effect: worker
import ctypes
import os

library = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(8)
here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
if library.process_vm_readv(os.getppid(), here, 1, here, 1, 0) != 8:
    raise OSError(ctypes.get_errno(), "nothing is read")
