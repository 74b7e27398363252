# failure: class_creation at execute
# layer: worker
class Meta(type):
    def __instancecheck__(cls, instance):
        return True

    def __subclasscheck__(cls, subclass):
        return True

    def __getattr__(cls, name):
        return cls


class Block(metaclass=Meta):
    pass
