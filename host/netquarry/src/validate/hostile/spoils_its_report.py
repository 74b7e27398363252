# failure: policy_violation at execute
# message: wrote to the report's descriptor
# tainted: modules text
# layer: host
import json

json.dumps = lambda *_, **__: "{]"
raise RuntimeError("nobody understands it")
