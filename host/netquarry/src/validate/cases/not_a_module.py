# failure: class_creation at execute
# message: does not derive from torch.nn.Module
class Block:
    pass
