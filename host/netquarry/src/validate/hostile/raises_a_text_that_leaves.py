# failure: no_report at execute
# layer: worker
class Hostile(Exception):
    def __str__(self):
        raise SystemExit(0)


raise Hostile
