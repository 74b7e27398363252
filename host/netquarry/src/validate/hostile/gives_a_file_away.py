# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: file
import os

os.chown("CANARY_FOLDER/victim", 65534, 65534)
