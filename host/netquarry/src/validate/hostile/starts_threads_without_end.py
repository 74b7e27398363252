# failure: runtime_error at execute
# message: can't start new thread
# layer: rlimits
# effect: processes
import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
