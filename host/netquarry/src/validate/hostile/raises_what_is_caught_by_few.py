# failure: runtime_error at execute
# message: BaseException: no Exception
# layer: worker
raise BaseException("no Exception")
