# failure: policy_violation at execute
# message: PermissionError: [Errno 1] Operation not permitted
# layer: seccomp
# effect: installed
import os

import numpy

os.truncate(os.path.join(os.path.dirname(numpy.__file__), "version.py"), 0)
