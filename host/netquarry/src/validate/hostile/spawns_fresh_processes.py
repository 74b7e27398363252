# failure: policy_violation at execute
# message: PermissionError: [Errno 1]
# layer: seccomp
# effect: processes
"""By what `multiprocessing` starts a fresh interpreter with."""
import sys
from multiprocessing import util

util.spawnv_passfds(sys.executable.encode(), [sys.executable, "-c", "import time; time.sleep(1000)"], ())
