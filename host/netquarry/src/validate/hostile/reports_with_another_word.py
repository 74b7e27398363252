# failure: policy_violation at execute
# message: wrote to the report's descriptor
# tainted: modules text
# layer: host
import sys

report = sys.modules["netquarry_worker.report"]
for descriptor in range(3, 64):
    try:
        report.Report(descriptor, "0" * 32).send("passed", level="execute", evidence={})
    except OSError:
        pass
