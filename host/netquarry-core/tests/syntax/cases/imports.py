# Imports, with what they stand under.
import os; import sys
from __future__ import annotations
from typing import TYPE_CHECKING

try:
    import fast
    import faster
except ImportError:
    import slow as fast
else:
    import extra
finally:
    import always

try:
    from a import (
        b,  # a comment
        c as d,
    )
except (ValueError, ModuleNotFoundError):
    pass

try:
    import risky
except ValueError:
    pass

if TYPE_CHECKING:
    from models import Model
else:
    Model = object

if not TYPE_CHECKING:
    import runtime
else:
    import typing_only

if TYPE_CHECKING and sys.version_info > (3, 8):
    import never
else:
    import otherwise

if sys.version_info > (3, 8):
    import new
elif os.name == "nt":
    import windows
else:
    if nested:
        import posix

with suppress(ImportError):
    import suppressed


def function():
    import at_first
    if at_first:
        from . import relative
        from .. import *

    def inner():
        global module_level
        import module_level
        import module_level.sub as renamed
        return renamed, module_level

    class Local:
        import in_class
        value = in_class.value

        def method(self):
            return in_class


class Class:
    from ..package import helper

    def method(self, x: Model) -> "Model":
        import twice
        from other import twice
        return twice, helper
