"""Write NetQuarry plugins in Python.

A plugin is a class that derives from the base class of its kind:

    from netquarry_sdk.discovery import Category, ClassDescription, DiscoveryRule, Proposal

    class Heads(DiscoveryRule):
        \"\"\"Takes every class whose name ends in "Head".\"\"\"

        name = "discover-heads"
        version = "0.1.0"

        def discover(self, classes: Sequence[ClassDescription]) -> list[Proposal]:
            return [
                Proposal(index, Category.UTILITY, "it is named a head")
                for index, description in enumerate(classes)
                if description.name.endswith("Head")
            ]

`netquarry_sdk.discovery`, `.shim`, `.dedup` and `.emit` have the kinds with all that they see and say,
`netquarry_sdk.testing` stands in for the host in native tests, and `python -m netquarry_sdk build` makes the
component. What the fields mean and which limits hold is written in the WIT files, in the folder `wit` of this
package.
"""

from . import log
from .bounds import Range
from .configuration import NoConfiguration
from .contract import API_VERSION, Kind
from .plugin import Plugin, configured
from .refusal import Refusal, RefusalCase
from .shape import AnnotationError, ConfigurationError

__all__ = [
    "API_VERSION",
    "AnnotationError",
    "ConfigurationError",
    "Kind",
    "NoConfiguration",
    "Plugin",
    "Range",
    "Refusal",
    "RefusalCase",
    "configured",
    "log",
]
