# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied: '/etc'
# layer: landlock
import os

os.listdir("/etc")
