# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: installed
"""To open a file is to empty it, if that is asked for; older versions of Landlock take it for reading."""
import os

import numpy

os.open(numpy.__file__, os.O_RDONLY | os.O_TRUNC)
