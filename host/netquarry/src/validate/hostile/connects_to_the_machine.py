# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: connection
import socket

socket.create_connection(("127.0.0.1", int("CANARY_PORT")))
