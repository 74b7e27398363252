# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
3 ** (10**9)
