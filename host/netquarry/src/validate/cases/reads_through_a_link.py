# failure: policy_violation at execute
# message: PermissionError: [Errno 13] Permission denied
import os

os.symlink("/etc/passwd", "notes.txt")
open("notes.txt")
