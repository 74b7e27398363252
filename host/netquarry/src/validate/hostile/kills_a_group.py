# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: signals both
# layer: seccomp
# effect: worker
import os
import signal

os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
