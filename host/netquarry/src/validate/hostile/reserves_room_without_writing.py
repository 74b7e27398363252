# failure: runtime_error at execute
# message: [Errno 27] File too large
# layer: rlimits
# effect: bytes
import os

with open("large", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 1 << 40)
