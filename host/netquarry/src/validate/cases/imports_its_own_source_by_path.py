# blocked: torchvision
# failure: policy_violation at execute
# tainted: modules text
import importlib.machinery
import sys

sys.meta_path.append(importlib.machinery.PathFinder)
import torchvision.ops
