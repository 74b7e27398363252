# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: signals both
# layer: seccomp
# effect: worker
import os
import signal

os.kill(-1, signal.SIGKILL)
