# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: connection
import socket

one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendmsg([b"x"], [], 0, "CANARY_FOLDER/datagrams")
