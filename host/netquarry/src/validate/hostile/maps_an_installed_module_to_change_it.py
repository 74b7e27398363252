# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: installed
import mmap

import numpy

with open(numpy.__file__, "rb") as file:
    mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE)[:1] = b"\0"
