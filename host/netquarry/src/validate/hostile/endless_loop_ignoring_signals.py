# failure: cpu_time at execute
# tainted: signals text
# layer: rlimits
# processor_seconds: 1
import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
while True:
    pass
