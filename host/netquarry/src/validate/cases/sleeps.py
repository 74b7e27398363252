# failure: wall_time at execute
import time

while True:
    time.sleep(1000)
