# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: file
import os

os.mkfifo("CANARY_FOLDER/planted")
