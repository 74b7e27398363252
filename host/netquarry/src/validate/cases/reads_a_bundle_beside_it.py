# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied: '<folder>/forward_convolution.py'
import os

open(os.path.join(os.path.dirname(__file__), "forward_convolution.py"))
