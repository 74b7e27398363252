"""The random state from which bundles start."""

import importlib.machinery
import random
import sys

SEED = 0

# What numpy imports on first use.
_NUMPY = "numpy.random"
_last = SEED


def seed(number=SEED):
    """Every level starts from the same random state, so that a verdict does not depend on what ran before. The number has
    32 bits."""
    global _last
    _last = number
    random.seed(number)
    if "torch" in sys.modules:
        # What `torch.manual_seed` does on a machine without accelerators, without looking for them.
        sys.modules["torch"].default_generator.manual_seed(number)
    if _NUMPY in sys.modules:
        sys.modules[_NUMPY].seed(number)


class SeedOnImport:
    """Seeds `numpy.random` where it is imported, which few bundles do: as if it had been there when `seed` was called."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _NUMPY:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        # To whoever looks at it, it was loaded as any other.
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        module.seed(_last)
