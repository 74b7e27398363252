from torch._vendor.packaging.version import parse
