# failure: class_creation at execute
# message: metaclass conflict
class A(type):
    pass


class B(type):
    pass


class Left(metaclass=A):
    pass


class Right(metaclass=B):
    pass


class Block(Left, Right):
    pass
