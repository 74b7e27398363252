# failure: runtime_error at execute
# message: its text could not be made: ZeroDivisionError
# layer: worker
# effect: worker
class Hostile(Exception):
    def __str__(self):
        return str(1 / 0)


raise Hostile
