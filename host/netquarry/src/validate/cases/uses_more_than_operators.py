# blocked: torchvision
# operators: torchvision
# failure: unresolved_import at execute
# message: module 'torchvision' has no attribute 'ops'
import torchvision

torchvision.ops.nms
