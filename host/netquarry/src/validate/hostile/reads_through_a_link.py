# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
# layer: landlock
import os

os.symlink("/etc/passwd", "notes.txt")
open("notes.txt")
