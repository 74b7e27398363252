# failure: data_required at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: connection
"""A pair is allowed; one of datagrams would send to any address."""
import socket

one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b"x", "CANARY_FOLDER/datagrams")
