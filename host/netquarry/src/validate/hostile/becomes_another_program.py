# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: processes
import os

os.execv("/bin/sh", ["sh", "-c", "sleep 1000; : CANARY_FOLDER"])
