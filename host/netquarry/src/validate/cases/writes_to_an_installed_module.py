# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
import numpy

open(numpy.__file__, "a")
