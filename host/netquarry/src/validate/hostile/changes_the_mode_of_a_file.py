# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
"""Landlock does not cover it."""
import os

os.chmod("/dev/shm", 0o777)
