# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
"""Landlock lets a path be opened that is not read; opening it once more is to read it."""
import os

path = os.open("CANARY_FOLDER/secret", os.O_PATH)
raise RuntimeError(open(f"/proc/self/fd/{path}").read())
