# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
# layer: landlock
open("/proc/1/cmdline")
