# failure: no_report at execute
# layer: worker
class Meta(type):
    @property
    def __name__(cls):
        return object()


class Hostile(Exception, metaclass=Meta):
    @property
    def name(self):
        raise KeyboardInterrupt


raise Hostile
