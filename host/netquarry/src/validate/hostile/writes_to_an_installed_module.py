# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
# layer: landlock
# effect: installed
import numpy

open(numpy.__file__, "a")
