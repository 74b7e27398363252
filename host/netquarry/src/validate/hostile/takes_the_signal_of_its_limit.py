# failure: cpu_time at execute
# tainted: signals text
# layer: rlimits
# processor_seconds: 1
import signal

signal.signal(signal.SIGXCPU, lambda *_: None)
while True:
    pass
