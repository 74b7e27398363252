# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
open("/proc/self/mem", "rb")
