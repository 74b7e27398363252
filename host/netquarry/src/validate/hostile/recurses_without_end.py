# failure: runtime_error at execute
# message: RecursionError: maximum recursion depth exceeded
# layer: worker
def recurse():
    recurse()


recurse()
