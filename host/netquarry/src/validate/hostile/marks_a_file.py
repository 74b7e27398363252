# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: file
import os

os.setxattr("CANARY_FOLDER/victim", "user.mark", b"seen")
