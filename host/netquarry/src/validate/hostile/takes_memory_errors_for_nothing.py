# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
while True:
    try:
        kept = bytearray(1 << 40)
    except MemoryError:
        pass
