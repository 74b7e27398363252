"""Stand-ins for the host's side, and helpers, for the native tests of a plugin; they need no pytest."""

from .blocks import MemoryBlocks
from .checks import assert_fits, check_project, refused_configuration
from .classes import class_descriptions
from .index import MemoryIndex
from .records import block, class_description

__all__ = [
    "MemoryBlocks",
    "MemoryIndex",
    "assert_fits",
    "block",
    "check_project",
    "class_description",
    "class_descriptions",
    "refused_configuration",
]
