# failure: cpu_time at execute
# tainted: signals text
# layer: rlimits
# processor_seconds: 1
import itertools
import signal

signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
for _ in itertools.repeat(None):
    pass
