"""Opening a .kgl container and handing out its sections, each read and checked when it is asked for.

The file is held open, not mapped: a mapped file that another program truncates (`cp` over it, rsync --inplace) kills
the process, and content could change after it was checked. What is read lies in memory of our own, so a section that
was handed out stays what it is; one that is asked for after the file was damaged is an error. A file that is renamed
or removed meanwhile can still be read.
"""

import errno
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError
from vaultgraph.kgl.coding import unpack_numbers_of
from vaultgraph.kgl.layout import ALIGNMENT, HEADER_BYTES, MAGIC, Section, parse_contents, parse_header

MOST_BYTES: Final = 1 << 33
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_PIECE_BYTES: Final = 1 << 26


class _Handle:
    """An open file, closed with the last section that may still be asked for."""

    __slots__ = ("_close", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self._close = os.close  # `os` may be gone when the interpreter ends

    def __del__(self) -> None:
        self._close(self.number)


class KglFile:
    """An open container: ``meta`` as it was written, and sections by name."""

    def __init__(self, path: str, handle: _Handle, sections: dict[str, Section], meta: dict[str, Any]) -> None:
        self.path = path
        self.meta = meta
        self._handle = handle
        self._sections = sections

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def names(self) -> list[str]:
        """The names of the sections, in file order."""
        return list(self._sections)

    def part(self, names: Iterable[str]) -> "KglFile":
        """The same file with some of its sections only."""
        return KglFile(self.path, self._handle, {name: self._sections[name] for name in names}, {})

    def section(self, name: str) -> memoryview:
        """The content of a section: read-only, starting at a multiple of 64 in memory; read anew each time.

        Raises:
            CorruptKglError: there is no such section, it was cut off, its checksum is wrong, or it cannot be unpacked.
        """
        section = self._sections.get(name)
        if section is None:
            raise CorruptKglError(f"{self.path}: damaged (section {name!r} is missing).")
        return self._read(section)

    def in_parts(self, name: str, stops: list[int]) -> Iterator[bytes]:
        """The content of a section that is not packed, in parts: each up to one of ``stops``; the last is its end.

        Only one part is held at a time, so the checksum is known to be right only when all were taken.

        Raises:
            CorruptKglError: as ``section``, the wrong checksum after the last part; or the section ends elsewhere.
        """
        section = self._sections.get(name)
        if section is None or section.coding or section.length != (stops[-1] if stops else 0):
            raise CorruptKglError(f"{self.path}: damaged (section {name!r} is missing or has the wrong length).")
        at, checksum = 0, 0
        for stop in stops:
            try:
                part = _read_exactly(self._handle.number, section.offset + at, stop - at, self.path)
            except OSError as reason:
                raise self._unreadable(reason) from reason
            at, checksum = stop, zlib.crc32(part, checksum)
            yield part
        if checksum != section.checksum:
            raise self._wrong(section)

    def _unreadable(self, reason: OSError) -> CorruptKglError:
        return CorruptKglError(f"{self.path}: cannot be read any more ({reason.strerror}).")

    def _wrong(self, section: Section) -> CorruptKglError:
        return CorruptKglError(f"{self.path}: damaged (the checksum of section {section.name!r} is wrong).")

    def _read(self, section: Section) -> memoryview:
        try:
            view = _read_aligned(self._handle.number, section.offset, section.length, self.path)
        except OSError as reason:
            raise self._unreadable(reason) from reason
        if zlib.crc32(view) != section.checksum:
            raise self._wrong(section)
        if not section.coding:
            return view
        numbers = unpack_numbers_of(view, section.coding, section.width, section.count)
        if numbers is None:
            raise CorruptKglError(f"{self.path}: damaged (section {section.name!r} cannot be unpacked).")
        return _aligned_copy(numbers)


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
    handle = _Handle(_open_regular(path))
    try:
        file_length = os.fstat(handle.number).st_size
        header = parse_header(os.pread(handle.number, HEADER_BYTES, 0), file_length, shown)
        if file_length > most_bytes:
            raise KglError(f"{shown}: {file_length:,} bytes, over the cap of {most_bytes:,} bytes.")
        contents = _read_aligned(handle.number, header.contents_offset, header.contents_length, shown)
    except OSError as reason:
        raise KglError(f"{shown}: cannot be read ({reason.strerror}).") from reason
    sections, meta = parse_contents(contents, header, shown)
    return KglFile(shown, handle, sections, meta)


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


def _read_aligned(handle: int, offset: int, length: int, path: str) -> memoryview:
    """A part of the file, read-only, at an address that is a multiple of 64."""
    target = _aligned_room(length)
    filled = 0
    while filled < length:
        count = os.preadv(handle, [target[filled : filled + _PIECE_BYTES]], offset + filled)
        if not count:
            raise CorruptKglError(f"{path}: it was truncated while it was read.")
        filled += count
    return target.toreadonly()


def _read_exactly(handle: int, offset: int, length: int, path: str) -> bytes:
    parts: list[bytes] = []
    while length:
        part = os.pread(handle, min(length, _PIECE_BYTES), offset)
        if not part:
            raise CorruptKglError(f"{path}: it was truncated while it was read.")
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _aligned_copy(numbers: npt.NDArray[Any]) -> memoryview:
    if not numbers.ctypes.data % ALIGNMENT:
        return numbers.view(np.uint8).data.toreadonly()
    target = _aligned_room(numbers.nbytes)
    target[:] = numbers.view(np.uint8).data
    return target.toreadonly()


def _aligned_room(length: int) -> memoryview:
    room = np.empty(length + ALIGNMENT, dtype=np.uint8)  # numpy asks for huge pages, which makes this fast
    start = -room.ctypes.data % ALIGNMENT
    return room.data[start : start + length]
