# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
import itertools
import threading

for _ in range(4):
    threading.Thread(target=all, args=(itertools.repeat(True),)).start()
