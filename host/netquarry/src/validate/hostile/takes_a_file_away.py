# failure: runtime_error at execute
# message: [Errno 18] Invalid cross-device link
# layer: private-scratch
# without_layer: failure: policy_violation at execute
# effect: file
import os

os.rename("CANARY_FOLDER/victim", "mine")
