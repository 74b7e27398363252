# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
import _socket

_socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, 15)
