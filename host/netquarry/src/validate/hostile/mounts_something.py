# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: file
import ctypes

library = ctypes.CDLL(None, use_errno=True)
if library.mount(b"none", b"CANARY_FOLDER", b"tmpfs", 0, None) != 0:
    raise OSError(ctypes.get_errno(), "nothing is mounted")
