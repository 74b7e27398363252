# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
class Hostile(Exception):
    def __str__(self):
        while True:
            pass


raise Hostile
