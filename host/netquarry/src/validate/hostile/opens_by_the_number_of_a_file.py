# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
import ctypes

library = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_uint32 * 34)(128)
mount = ctypes.c_int()
if library.name_to_handle_at(-100, b"CANARY_FOLDER/secret", handle, ctypes.byref(mount), 0) != 0:
    raise OSError(ctypes.get_errno(), "it has no number")
