# failure: runtime_error at execute
# message: RuntimeError: xxx
# layer: worker
raise RuntimeError("x" * (64 << 20))
