import torch._vendor.packaging.version

from torch._vendor import packaging
