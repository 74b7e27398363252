# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied: '<folder>/tells_its_worker.py'
# layer: landlock
import os

open(os.path.join(os.path.dirname(__file__), "tells_its_worker.py"))
