"""Running short of memory, where this process may have more than it started with.

A guess that takes too much is no good one, and the next is tried. But what is too much must not depend on how much the
host could give at first: so the process ends, and is run again with all that its limits allow.
"""

import re

SHORT = re.compile(r"can't allocate memory|not enough memory|std::bad_alloc|[Cc]annot allocate memory")
CAUSES = 8

_may_have_more = False


class Short(BaseException):
    """There may be more; no `Exception`, so that nothing is tried with less."""


def expect_more():
    global _may_have_more
    _may_have_more = True


def look_at(error):
    """Raises `Short` where this exception came of too little memory and there may be more."""
    for _ in range(CAUSES):
        if not _may_have_more or error is None:
            return
        if isinstance(error, MemoryError) or isinstance(error, (RuntimeError, OSError)) and SHORT.search(str(error)):
            raise Short from None
        error = error.__cause__ or error.__context__
