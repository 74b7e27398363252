# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
# effect: installed
import os

import numpy

os.utime(numpy.__file__)
