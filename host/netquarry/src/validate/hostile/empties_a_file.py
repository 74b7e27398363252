# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: file
import os

os.truncate("CANARY_FOLDER/victim", 0)
