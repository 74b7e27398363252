# failure: wall_time at execute
# seconds: 2
import time

while True:
    time.sleep(1000)
