# failure: syntax at execute
# layer: none
# passes_through: which failure it is comes from the exception, which says what it likes; a failure it remains
class Meta(type):
    @property
    def __name__(cls):
        return "SyntaxError"

    @property
    def __mro__(cls):
        return SyntaxError.__mro__


class Hostile(Exception, metaclass=Meta):
    __class__ = SyntaxError
    msg = filename = lineno = None


raise Hostile("nothing is wrong with it")
