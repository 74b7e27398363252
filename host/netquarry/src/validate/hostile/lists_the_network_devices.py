# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
"""Any socket knows them, one of a pair too."""
import array
import fcntl
import socket
import struct

LIST_DEVICES = 0x8912
one, _ = socket.socketpair()
room = array.array("B", bytes(4096))
request = struct.pack("iP", len(room), room.buffer_info()[0])
fcntl.ioctl(one, LIST_DEVICES, request)
