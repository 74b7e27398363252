"""Puts the sources of a bundle out of reach, so that a forgotten `from timm...` is a failure and not an accident.

To the bundle such a package looks as if it were not installed. Two mechanisms, since each alone has a way around it:
the gate stands before the import system's own finders; and an audit hook, which nothing can take away again, forbids
to open any file of an installed copy, by whatever finder or loader.

One exception: `import torchvision` in a bundle that uses `torch.ops.torchvision`. The statement then loads the compiled
operators and binds a module that has nothing in it.
"""

import functools
import glob
import importlib.machinery
import os
import sys
import types


class OperatorPackage(types.ModuleType):
    """Stands for a package of which only the compiled operators are loaded."""

    def __getattr__(self, name):
        message = f"module {self.__name__!r} has no attribute {name!r}: only its compiled operators are within reach"
        raise AttributeError(message, name=name, obj=self)


class OperatorLoader:
    """Loads the shared libraries that lie in a package's folder, and none of its Python modules."""

    def __init__(self, libraries):
        self._libraries = libraries

    def create_module(self, spec):
        return OperatorPackage(spec.name)

    def exec_module(self, module):
        import torch

        for library in self._libraries:
            torch.ops.load_library(library)


class Gate:
    """The only finder there is: asks the others, except about what is blocked."""

    def __init__(self, blocked, operator_loaders):
        self._blocked = frozenset(blocked)
        self._operator_loaders = operator_loaders
        self._finders = list(sys.meta_path)

    def find_spec(self, fullname, path=None, target=None):
        loader = self._operator_loaders.get(fullname)
        if loader is not None:
            return importlib.machinery.ModuleSpec(fullname, loader)
        if fullname.partition(".")[0] in self._blocked:
            return None
        for finder in self._finders:
            find_spec = getattr(finder, "find_spec", None)
            spec = find_spec(fullname, path, target) if find_spec else None
            if spec is not None:
                return spec
        return None

    def find_distributions(self, context):
        """What `importlib.metadata` knows: packages look up the versions of what they need while they are imported."""
        for finder in self._finders:
            if hasattr(finder, "find_distributions"):
                found = finder.find_distributions(context)
                yield from (distribution for distribution in found if not self._is_blocked(distribution))

    def _is_blocked(self, distribution):
        # What an interrupted installation leaves behind has no name.
        packages = distribution.read_text("top_level.txt") or (distribution.name or "").replace("-", "_")
        return not self._blocked.isdisjoint(packages.split())

    def invalidate_caches(self):
        for finder in self._finders:
            if hasattr(finder, "invalidate_caches"):
                finder.invalidate_caches()


class Source:
    """A top-level package, and what of it is installed."""

    def __init__(self, package, places, libraries):
        self.package = package
        # The package's folders, each with a slash at its end, or the one file of a module.
        self.places = places
        self.libraries = libraries


@functools.cache
def locate(package, layers):
    """Looks a package up without importing it, wherever a copy of it may lie."""
    found = [installed(package, path) for path in (None, *([layer] for layer in layers))]
    places = tuple(place for copy in found for place in copy.places)
    # The operators are those of the copy that an import would find.
    return Source(package, places, next((copy.libraries for copy in found if copy.places), ()))


def installed(package, path):
    """The copy of a package that lies on `path`, a list of folders; on Python's own path for None."""
    spec = importlib.machinery.PathFinder.find_spec(package, path)
    if spec is None:
        return Source(package, (), ())
    folders = list(spec.submodule_search_locations or ())
    if not folders:
        return Source(package, (os.path.realpath(spec.origin),), ())
    libraries = sorted(library for folder in folders for library in glob.glob(os.path.join(folder, "_C*.so")))
    return Source(package, tuple(os.path.join(os.path.realpath(folder), "") for folder in folders), libraries)


def imported_by_package():
    """The names of all modules that are imported, by their top-level packages.

    To look at each of thousands of names writes to it, since it counts who looks: a child that did would copy the memory
    that they lie in.
    """
    names = {}
    for name in sys.modules:
        names.setdefault(name.partition(".")[0], []).append(name)
    return names


def install(sources, operator_packages, imported):
    """Blocks the packages of `sources`; those named in `operator_packages` still give their operators. `imported` are the
    modules that are imported, by package."""
    blocked = {source.package for source in sources}
    for package in blocked:
        for name in imported.get(package, ()):
            del sys.modules[name]
    loaders = {
        source.package: OperatorLoader(source.libraries) for source in sources if source.package in operator_packages
    }
    sys.meta_path[:] = [Gate(blocked, loaders)]
    places = tuple(place for source in sources for place in source.places)
    if places:
        sys.addaudithook(_watch(places))


def _watch(places):
    realpath = os.path.realpath

    def watch(event, arguments):
        if event != "open" or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.fsdecode(arguments[0])
        if path.startswith(places) or realpath(path).startswith(places):
            raise PermissionError(f"{path!r} belongs to a source of this bundle, which is kept out of reach")

    return watch
