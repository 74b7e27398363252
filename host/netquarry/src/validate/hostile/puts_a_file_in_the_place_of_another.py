# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
import os

with open("mine", "w") as file:
    file.write("something else")
os.replace("mine", "CANARY_FOLDER/victim")
