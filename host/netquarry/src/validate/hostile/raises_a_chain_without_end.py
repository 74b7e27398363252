# failure: runtime_error at execute
# message: RuntimeError: one
# layer: worker
error = RuntimeError("the last")
for number in range(10_000):
    last, error = error, RuntimeError(f"link {number}")
    error.__cause__ = last
first, second = RuntimeError("one"), RuntimeError("other")
first.__cause__, second.__cause__ = second, error
second.__context__ = first
raise first
