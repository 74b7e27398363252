# failure: unresolved_name at construct
# message: NameError: name 'Missing' is not defined
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = Missing(dim)
