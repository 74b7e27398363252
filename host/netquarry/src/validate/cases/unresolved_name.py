# failure: unresolved_name at execute
# message: NameError: name 'Missing' is not defined
# upstream: package/module.py:106
from torch import nn

class Block(Missing, nn.Module):
    pass
