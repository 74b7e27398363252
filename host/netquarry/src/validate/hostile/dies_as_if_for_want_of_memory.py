# failure: memory at execute
# tainted: signals text
# layer: none
# passes_through: the signal of the kernel that is out of memory can be sent to oneself; it costs nobody else's verdict
import signal

signal.raise_signal(signal.SIGKILL)
