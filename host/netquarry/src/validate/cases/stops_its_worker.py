# failure: harness at parse
# message: the Python worker ended while it ran this bundle
# stops_worker: yes
"""Has the test stop its worker, which does nothing from then on."""
import os
import time

with open("unfinished", "w") as file:
    file.write(f"{os.getppid()} {os.getpid()}")
os.rename("unfinished", "stop-this-worker")
time.sleep(60)
