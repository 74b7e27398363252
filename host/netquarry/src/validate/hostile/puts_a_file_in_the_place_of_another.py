# failure: runtime_error at execute
# message: [Errno 18] Invalid cross-device link
# layer: private-scratch
# without_layer: failure: policy_violation at execute
# effect: file
import os

with open("mine", "w") as file:
    file.write("something else")
os.replace("mine", "CANARY_FOLDER/victim")
