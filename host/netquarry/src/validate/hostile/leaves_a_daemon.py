# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: exit text
# layer: seccomp
# effect: processes
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
