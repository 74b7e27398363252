# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# tainted: signals both
# layer: seccomp
# effect: worker
import os
import signal

os.kill(os.getppid(), signal.SIGKILL)
