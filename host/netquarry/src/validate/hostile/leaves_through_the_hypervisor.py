# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
import _socket

_socket.socket(_socket.AF_VSOCK, _socket.SOCK_STREAM)
