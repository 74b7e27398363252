# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
# effect: processes
import os

while True:
    os.fork()
