# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
import os

os.mkdir("CANARY_FOLDER/planted")
