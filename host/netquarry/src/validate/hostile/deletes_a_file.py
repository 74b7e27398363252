# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
import os

os.remove("CANARY_FOLDER/victim")
