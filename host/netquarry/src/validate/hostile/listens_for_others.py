# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: listener
import socket

socket.create_server(("127.0.0.1", int("CANARY_FREE_PORT")))
