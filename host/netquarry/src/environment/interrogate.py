"""Writes what this interpreter is and has, as JSON, to the file that the first argument names.

Never to standard output: a `sitecustomize` of the user may print there.
"""

import json
import platform
import re
import sys


def normalised(name):
    """The name of a distribution as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def markers():
    """What the markers of requirements are evaluated against, by the names of PEP 508."""
    import os

    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": platform.python_version(),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        # A build between releases calls itself `3.13.0+`, which is no version.
        "python_full_version": platform.python_version() + "local" * platform.python_version().endswith("+"),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    }


def installed():
    """What is installed; asked of no Python before 3.10, which lacks the calls and is too old in any case."""
    import importlib.metadata
    import importlib.util
    import sysconfig

    distributions = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            # The first on the path wins, as it does for imports.
            distributions.setdefault(normalised(name), distribution.version)
    packages = importlib.metadata.packages_distributions()
    paths = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    return {
        "prefixes": sorted(paths | {sys.prefix, sys.base_prefix}),
        "distributions": distributions,
        "packages": {package: sorted({normalised(name) for name in names}) for package, names in packages.items()},
        "standard_library": sorted(sys.stdlib_module_names),
        "markers": markers(),
        "makes_environments": all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
    }


answer = {"version": platform.python_version(), "implementation": sys.implementation.name}
if sys.version_info >= (3, 10):
    answer.update(installed())
with open(sys.argv[1], "w") as file:
    json.dump(answer, file)
