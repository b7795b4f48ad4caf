"""Memory that a start needed and the rest of a session does not: given back to the system.

Called by vault/vault once everything is prepared. Linux only; elsewhere it does nothing.
"""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_MAPS: Final = Path("/proc/self/maps")
_LARGE_BYTES: Final = 8 << 20  # of the code of one library
_DONTNEED: Final = 4  # MADV_DONTNEED in the kernel's interface


def give_back() -> None:
    """Return freed memory, and pages of large libraries' code: what is used again comes back from the page cache.

    Loading a library and using each of its parts once leaves tens of megabytes of code in the process, of which a
    session uses a few.
    """
    library = ctypes.CDLL(None)
    trim, advise = (getattr(library, name, None) for name in ("malloc_trim", "madvise"))
    if trim is not None:
        trim(ctypes.c_size_t(0))
    if advise is not None:
        for start, stop in _large_code():
            advise(ctypes.c_void_p(start), ctypes.c_size_t(stop - start), ctypes.c_int(_DONTNEED))


def _large_code() -> Iterator[tuple[int, int]]:
    """Where code of large libraries lies, first and last address: files mapped for reading and running only."""
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        span, rights, _offset, _device, inode, *_path = line.split(maxsplit=5)
        start, stop = (int(end, 16) for end in span.split("-"))
        if "x" in rights and "w" not in rights and inode != "0" and stop - start >= _LARGE_BYTES:
            yield start, stop
