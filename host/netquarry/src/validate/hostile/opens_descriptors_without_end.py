# failure: runtime_error at execute
# message: [Errno 24] Too many open files
# layer: rlimits
kept = []
while True:
    kept.append(open("/dev/null"))
