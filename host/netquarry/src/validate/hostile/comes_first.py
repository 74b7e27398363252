# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
import os

os.nice(-20)
