# failure: wall_time at execute
# layer: host
# seconds: 3
import time

while True:
    time.sleep(1000)
