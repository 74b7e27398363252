# failure: runtime_error at construct
# message: object is not callable
# layer: worker
from torch import nn


class Block:
    __class__ = type
    __bases__ = (nn.Module,)
    __mro__ = (nn.Module, object)


Block = Block()
