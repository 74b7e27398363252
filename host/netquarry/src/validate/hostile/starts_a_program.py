# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
# effect: processes
import subprocess

subprocess.run(["/bin/true"])
