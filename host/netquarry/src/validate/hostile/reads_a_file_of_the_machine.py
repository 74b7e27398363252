# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied: '/etc/passwd'
# layer: landlock
open("/etc/passwd")
