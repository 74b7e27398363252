# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes

CREATE = 0o1600
library = ctypes.CDLL(None, use_errno=True)
for make in (library.shmget, library.semget):
    if make(0, 1, CREATE) >= 0:
        raise RuntimeError("it outlives its process")
raise OSError(ctypes.get_errno(), "nothing is shared")
