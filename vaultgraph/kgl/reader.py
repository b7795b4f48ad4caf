"""Opening a .kgl container and handing out its sections, each checked against its checksum before its first use.

The file is read into memory, not mapped: a mapped file that another program truncates (`cp` over it, rsync --inplace)
kills the process, and content could change after it was checked. Reading into huge pages costs no more than the page
faults of a mapping would. Views of sections keep the memory alive; there is nothing to close.
"""

import errno
import os
import stat
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError
from vaultgraph.kgl.layout import ALIGNMENT, HEADER_BYTES, MAGIC, Section, parse_contents, parse_header

MOST_BYTES: Final = 1 << 33
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_PIECE_BYTES: Final = 1 << 26


class KglFile:
    """An open container: ``meta`` as it was written, and sections by name."""

    def __init__(self, path: str, data: memoryview, sections: dict[str, Section], meta: dict[str, Any]) -> None:
        self.path = path
        self.meta = meta
        self._data = data
        self._sections = sections
        self._checked: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def names(self) -> list[str]:
        """The names of the sections, in file order."""
        return list(self._sections)

    def section(self, name: str) -> memoryview:
        """The bytes of a section: read-only, starting at a multiple of 64 in memory.

        Raises:
            CorruptKglError: there is no such section, or its checksum is wrong.
        """
        section = self._sections.get(name)
        if section is None:
            raise CorruptKglError(f"{self.path}: damaged (section {name!r} is missing).")
        view = self._data[section.offset : section.offset + section.length]
        if name not in self._checked:
            if zlib.crc32(view) != section.checksum:
                raise CorruptKglError(f"{self.path}: damaged (the checksum of section {name!r} is wrong).")
            self._checked.add(name)
        return view


def open_kgl(path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> KglFile:
    """Read the container at ``path`` and check its header and table of contents.

    A symlink at ``path`` is not followed. Pipes, devices and folders are never opened.

    Raises:
        ForeignKglError: not a file of vaultgraph, or no regular file.
        KglVersionError: another format version.
        CorruptKglError: truncated, damaged, or it changes while it is read.
        KglError: missing, unreadable, or over ``most_bytes``.
    """
    shown = str(path)
    handle = _open_regular(path)
    try:
        file_length = os.fstat(handle).st_size
        header = parse_header(os.pread(handle, HEADER_BYTES, 0), file_length, shown)
        if file_length > most_bytes:
            raise KglError(f"{shown}: {file_length:,} bytes, over the cap of {most_bytes:,} bytes.")
        data = _read_aligned(handle, file_length, shown)
    except OSError as reason:
        raise KglError(f"{shown}: cannot be read ({reason.strerror}).") from reason
    except MemoryError as reason:
        raise KglError(f"{shown}: does not fit into memory.") from reason
    finally:
        os.close(handle)
    sections, meta = parse_contents(data[header.contents_offset :], header, shown)
    return KglFile(shown, data, sections, meta)


def is_replaceable(path: str | os.PathLike[str]) -> bool:
    """Whether a container may be written to ``path``: nothing is there, or a file of vaultgraph, or an empty one."""
    try:
        handle = _open_regular(path)
    except ForeignKglError:
        return False
    except KglError:
        return not os.path.lexists(path)
    try:
        return MAGIC.startswith(os.pread(handle, len(MAGIC), 0))
    except OSError:
        return False
    finally:
        os.close(handle)


def _open_regular(path: str | os.PathLike[str]) -> int:
    foreign = f"{path}: is no regular file, so it is none of vaultgraph; it is left alone."
    try:
        # Looked at before it is opened: opening a device may act on it.
        if not stat.S_ISREG(Path(path).lstat().st_mode):
            raise ForeignKglError(foreign)
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError) as reason:
        if isinstance(reason, OSError) and reason.errno == errno.ELOOP:
            raise ForeignKglError(foreign) from reason
        text = reason.strerror if isinstance(reason, OSError) else reason
        raise KglError(f"{path}: cannot be opened ({text}).") from reason
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ForeignKglError(foreign)
    return handle


def _read_aligned(handle: int, length: int, path: str) -> memoryview:
    """The whole file, read-only, at an address that is a multiple of 64 so that sections keep their alignment."""
    room = np.empty(length + ALIGNMENT, dtype=np.uint8)  # numpy asks for huge pages, which makes this fast
    start = -room.ctypes.data % ALIGNMENT
    target = room.data[start : start + length]
    filled = 0
    while filled < length:
        count = os.preadv(handle, [target[filled : filled + _PIECE_BYTES]], filled)
        if not count:
            raise CorruptKglError(f"{path}: it was truncated while it was read.")
        filled += count
    return target.toreadonly()
