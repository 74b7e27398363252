# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: worker
"""Who owns a pipe is told by a signal when something comes."""
import fcntl
import os
import signal

SET_SIGNAL = 10
reading, writing = os.pipe()
fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid())
fcntl.fcntl(reading, SET_SIGNAL, signal.SIGKILL)
fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
os.write(writing, b"x")
