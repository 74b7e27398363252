# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: file
from multiprocessing import shared_memory

shared_memory.SharedMemory("CANARY_NAME", create=True, size=4096)
