# failure: harness at parse
# message: the Python worker ended while it ran this bundle
# loses_worker: yes
"""A signal to one thread of another process cannot be refused without refusing `abort`: the worker dies, and the bundle
is the only one to pay for it."""
import ctypes
import os
import platform
import time

TGKILL = {"x86_64": 234, "aarch64": 131}[platform.machine()]
ctypes.CDLL(None).syscall(TGKILL, os.getppid(), os.getppid(), 9)
time.sleep(60)
