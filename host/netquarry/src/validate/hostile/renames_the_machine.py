# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
import socket

socket.sethostname("elsewhere")
