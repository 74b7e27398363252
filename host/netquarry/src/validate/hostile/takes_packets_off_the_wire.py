# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
import _socket

_socket.socket(_socket.AF_PACKET, _socket.SOCK_RAW, 0x0300)
