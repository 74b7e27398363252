# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied: '/etc'
import os

os.listdir("/etc")
