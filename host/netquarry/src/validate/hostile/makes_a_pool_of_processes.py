# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
# effect: processes
import concurrent.futures

concurrent.futures.ProcessPoolExecutor(2).submit(print).result()
