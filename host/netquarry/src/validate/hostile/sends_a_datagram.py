# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: connection
import socket

socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int("CANARY_PORT")))
