# failure: runtime_error at execute
# message: [Errno 27] File too large
# layer: rlimits
# effect: bytes
with open("large", "wb") as file:
    file.truncate(1 << 40)
