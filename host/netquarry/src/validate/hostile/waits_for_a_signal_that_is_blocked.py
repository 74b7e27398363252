# failure: wall_time at execute
# tainted: signals text
# layer: host
# seconds: 3
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.pause()
