"""Making forks cheap.

A fork copies the page table of the parent, and the child's end tears its copy down: for the 300 MB that torch leaves in
small pages that takes longer than most bundles run. In huge pages (2 MB) it is a tenth of that.
"""

import ctypes
import re

# <linux/mman.h>, since Linux 6.1
MADV_COLLAPSE = 25
HUGE = 2 << 20

_REGION = re.compile(r"(?P<start>[0-9a-f]+)-(?P<end>[0-9a-f]+) rw-p \S+ \S+ 0 +(\[heap\])?$")

_library = ctypes.CDLL(None, use_errno=True)
_madvise = _library.madvise
_madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def trim():
    """Gives back what was allocated for good reasons once, such as trees of syntax; glibc alone knows how."""
    if hasattr(_library, "malloc_trim"):
        _library.malloc_trim(0)


def collapse():
    """Moves this process's own memory to huge pages, as far as the kernel does it: takes half a second, once."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        regions = [match for match in map(_REGION.match, maps.read().splitlines()) if match]
    for region in regions:
        start = -(-int(region["start"], 16) // HUGE) * HUGE
        end = int(region["end"], 16) // HUGE * HUGE
        if start < end:
            # Whatever it answers, the memory holds what it held before.
            _madvise(start, end - start, MADV_COLLAPSE)
