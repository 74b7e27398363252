# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: processes
import os

program = os.open("/bin/sleep", os.O_RDONLY)
os.execve(program, ["sleep", "1000", "CANARY_FOLDER"], {})
