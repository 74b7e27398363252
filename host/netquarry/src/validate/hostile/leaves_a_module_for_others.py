# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: installed
import os

import numpy

with open(os.path.join(os.path.dirname(numpy.__file__), "planted.py"), "w") as file:
    file.write("raise SystemExit\n")
