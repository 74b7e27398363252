# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
# effect: file
import ctypes
import os

library = ctypes.CDLL("librt.so.1", use_errno=True)
if library.mq_open(b"/CANARY_NAME", os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
    raise OSError(ctypes.get_errno(), "there is no queue")
