# failure: runtime_error at execute
# message: Exceeds the limit
# layer: worker
str(1 << (1 << 27))
