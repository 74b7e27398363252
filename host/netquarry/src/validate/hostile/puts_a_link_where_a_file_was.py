# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
import os

os.symlink("/etc/passwd", "CANARY_FOLDER/planted")
