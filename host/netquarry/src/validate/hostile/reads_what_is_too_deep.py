# failure: runtime_error at execute
# message: RecursionError: maximum recursion depth exceeded
# layer: worker
import json

json.loads("[" * 1_000_000)
