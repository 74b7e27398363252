# failure: api_drift at execute
from torch.nn import DoesNotExist
