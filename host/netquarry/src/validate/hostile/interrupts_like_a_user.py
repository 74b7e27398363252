# failure: runtime_error at execute
# message: KeyboardInterrupt
# layer: worker
raise KeyboardInterrupt
