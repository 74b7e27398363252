# failure: cpu_time at execute
while True:
    pass
