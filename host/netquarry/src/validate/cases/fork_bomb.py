# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
import os

while True:
    os.fork()
