# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: connection
import socket

socket.socket(socket.AF_UNIX).connect("CANARY_FOLDER/stream")
