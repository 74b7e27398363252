# failure: runtime_error at execute
# message: [Errno 18] Invalid cross-device link
# layer: landlock
# effect: file
import os

os.link("CANARY_FOLDER/secret", "notes.txt")
raise RuntimeError(open("notes.txt").read())
