# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
# layer: landlock
# effect: bytes
open("../left-behind", "w")
