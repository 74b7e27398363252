# failure: runtime_error at execute
# message: xxx
# layer: worker
raise type("x" * (8 << 20), (Exception,), {})
