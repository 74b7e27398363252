# failure: runtime_error at execute
# message: a name that is no text: ??
# layer: worker
raise RuntimeError("a name that is no text: \udcff\ud800")
