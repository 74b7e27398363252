# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
while True:
    pass
