# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
import os

os.listdir("/home")
