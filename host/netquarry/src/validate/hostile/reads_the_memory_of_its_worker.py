# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
import os

try:
    open(f"/proc/{os.getppid()}/mem", "rb")
except OSError as error:
    raise OSError(error.errno, "it stays closed") from None
