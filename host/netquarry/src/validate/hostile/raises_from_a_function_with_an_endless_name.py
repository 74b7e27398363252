# failure: runtime_error at execute
# message: RuntimeError
# layer: worker
source = f"def {'f' * (4 << 20)}():\n    raise RuntimeError\n{'f' * (4 << 20)}()"
exec(source)
