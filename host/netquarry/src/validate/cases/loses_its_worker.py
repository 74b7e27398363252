# failure: harness at parse
# message: the Python worker ended while it ran this bundle
# loses_worker: yes
"""Has the test end its worker, and is the only one to pay for it."""
import os
import time

with open("unfinished", "w") as file:
    file.write(str(os.getppid()))
os.rename("unfinished", "end-this-worker")
time.sleep(60)
