# blocked: torchvision
# failure: policy_violation at execute
# message: '<environment>/torchvision/version.py' belongs to a source of this bundle
import importlib.util
import os

import numpy

path = os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "torchvision", "version.py")
spec = importlib.util.spec_from_file_location("innocent", path)
spec.loader.exec_module(importlib.util.module_from_spec(spec))
