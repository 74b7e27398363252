# failure: wall_time at execute
# layer: host
# seconds: 3
import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
