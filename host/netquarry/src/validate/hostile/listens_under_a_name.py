# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: listener
import socket

server = socket.socket(socket.AF_UNIX)
server.bind("\0CANARY_NAME")
server.listen()
