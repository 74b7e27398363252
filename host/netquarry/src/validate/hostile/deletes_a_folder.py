# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
import shutil

shutil.rmtree("CANARY_FOLDER")
