# failure: data_required at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
# effect: connection
import socket

socket.create_connection(("127.0.0.1", 9))
