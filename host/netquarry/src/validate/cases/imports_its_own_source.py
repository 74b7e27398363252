# blocked: torchvision
# failure: unresolved_import at execute
# message: ModuleNotFoundError: No module named 'torchvision'
from torchvision.ops import misc
