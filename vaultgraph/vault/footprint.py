"""Memory that a start or a build needed and the rest of a session does not: given back to the system.

Called once everything is prepared for edits, and between reading and building. Linux only; elsewhere it does nothing.
"""

import ctypes
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MAPS: Final = Path("/proc/self/maps")
_LIBRARY: Final = "_polars_runtime"  # in the name of its file
_DONTNEED: Final = 4  # MADV_DONTNEED in the kernel's interface


def give_back() -> None:
    """Return freed memory, and the pages of polars' code: those that run again come back from the page cache.

    Loading the library and using each of its parts once leaves 35 MB of its code in the process, of which queries and
    edits run a tenth.
    """
    if sys.platform != "linux":
        return
    trim()
    advise = getattr(ctypes.CDLL(None), "madvise", None)
    if advise is not None:
        for start, stop in _code():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), ctypes.c_int(_DONTNEED))


def trim() -> None:
    """Return freed memory: what was in use while many notes were read, 2 ms for 20 MB."""
    give = None if sys.platform != "linux" else getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give is not None:
        give(ctypes.c_size_t(0))


def _code() -> Iterator[tuple[int, int]]:
    """Where the library's code lies, first and last address: mapped for reading and running only, so never written."""
    try:
        lines = _MAPS.read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        span, rights, *_, name = line.split(maxsplit=5)
        if _LIBRARY in name and "x" in rights and "w" not in rights:
            first, last = (int(end, 16) for end in span.split("-"))
            yield first, last
