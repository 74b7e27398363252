# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: signals text
# layer: seccomp
# effect: worker
import os
import signal

signal.pidfd_send_signal(os.pidfd_open(os.getppid()), signal.SIGKILL)
