# failure: wall_time at execute
# tainted: signals text
# layer: host
# seconds: 3
import signal

signal.raise_signal(signal.SIGSTOP)
