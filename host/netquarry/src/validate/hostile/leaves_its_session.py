# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: processes
import os

os.setpgid(0, 0)
