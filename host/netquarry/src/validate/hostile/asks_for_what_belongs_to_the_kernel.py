# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# tainted: memory running, memory text
# layer: seccomp
"""Keys, packet filters, counters, page faults, modules and other kernels: each has been a way out before."""
import ctypes
import os
import platform

CALLS = {
    "x86_64": {"add_key": 248, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
               "delete_module": 176, "kexec_load": 246},
    "aarch64": {"add_key": 217, "keyctl": 219, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
                "delete_module": 106, "kexec_load": 104},
}
library = ctypes.CDLL(None, use_errno=True)
for name, number in CALLS[platform.machine()].items():
    if library.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1:
        raise RuntimeError(f"{name}: {os.strerror(ctypes.get_errno())}")
raise OSError(ctypes.get_errno(), "none of them is for it")
