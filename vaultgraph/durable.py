"""Crash-safe replacement of a file: the old content or the new one, never half of either. And who may write at a time.

The only way vaultgraph writes to disk; used by kgl/writer, vault/ and export/owned. It does not create folders (but for
its lock files) and does not decide what may be written: callers do. Locks are advisory and end with the process that
holds them, however it ends; nobody ever waits for one.
"""

import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl

TEMPORARY_PREFIX: Final = ".vaultgraph-"  # starts with a dot, so that no walk of a vault ever lists it
_LEFTOVER: Final = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{16}}\.tmp")
_LEFTOVER_S: Final = 3600.0  # where nothing can be locked: no process writes that long to a temporary file
_YOUNG_S: Final = 10.0  # between making a temporary file and locking it
_PIECE_BYTES: Final = 1 << 26  # one write call never takes more: some systems refuse 2 GiB at once


def replace_file(
    path: str | os.PathLike[str],
    pieces: Iterable[bytes | bytearray | memoryview],
    *,
    head: Callable[[], bytes] | None = None,
    is_flushed: bool = True,
) -> int:
    """Make ``path`` hold exactly ``pieces``, in order; returns the number of bytes.

    ``pieces`` are taken one at a time. ``head`` is called after the last one and gives what the file starts with in
    place of as many bytes of the first piece: for a header that depends on what follows it. ``is_flushed`` False leaves
    the flushing to the caller, who writes many files and calls ``flush_all`` once.

    The bytes go to a temporary file in the same folder, are flushed to the disk and then take the name in one step;
    the folder is flushed too. Everything happens by a handle of the folder, so a folder renamed meanwhile does no harm.
    A symlink at ``path`` is replaced, never followed. The temporary
    file is locked while it is written. On any failure it is removed, and what was at ``path`` is untouched.

    Raises:
        OSError: the folder is missing or not writable, the disk is full, or ``path`` is a folder.
    """
    target = Path(path)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        temporary = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o666, dir_fd=folder)
        is_placed = False
        try:
            try:
                _lock(handle)
                size_bytes = sum(_write_all(handle, piece) for piece in pieces)
                if head is not None:
                    os.lseek(handle, 0, os.SEEK_SET)
                    _write_all(handle, head())
                if is_flushed:
                    os.fsync(handle)
            finally:
                os.close(handle)
            os.replace(temporary, target.name, src_dir_fd=folder, dst_dir_fd=folder)
            is_placed = True
        finally:
            if not is_placed:
                os.unlink(temporary, dir_fd=folder)
        if is_flushed:
            _flush_folder(folder)
    finally:
        os.close(folder)
    return size_bytes


def flush_all() -> None:
    """Bring everything written so far to the disk: once after many files, where each by itself would take minutes."""
    os.sync()


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Delete the temporary files in ``folder`` that a process left when it was killed; never fails.

    Only regular files of the name ``replace_file`` gives, that no living process has locked: also one in another
    container, whose number would say nothing here. Where the file system has no locks, only those an hour old.
    """
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with os.scandir(handle) as entries:
                names = [entry.name for entry in entries if _LEFTOVER.fullmatch(entry.name)]
            for name in names:
                with suppress(OSError):
                    if _is_left(name, handle):
                        os.unlink(name, dir_fd=handle)
        finally:
            os.close(handle)


@contextmanager
def one_at_a_time(path: str | os.PathLike[str]) -> Generator[bool]:
    """Whether this block is the only one, in all processes of the machine, that runs for the lock file ``path``.

    It never waits. The file is made where it is missing, with its folder, and stays. Where it cannot be made or the
    file system has no locks, the answer is True: replacing a file is safe without, only wasteful.
    """
    handle = None
    with suppress(OSError):
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(path, flags, 0o600)
    try:
        yield handle is None or _lock(handle) is not False
    finally:
        if handle is not None:
            os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file until it is closed; False where another process has it, None where nothing can be locked."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_left(name: str, folder: int) -> bool:
    """Whether the temporary file ``name`` is a regular one that nobody writes to any more."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    age_s = time.time() - status.st_mtime
    if not stat.S_ISREG(status.st_mode) or age_s < _YOUNG_S:
        return False
    handle = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        is_free = _lock(handle)
    finally:
        os.close(handle)
    return age_s > _LEFTOVER_S if is_free is None else is_free


def _write_all(handle: int, piece: bytes | bytearray | memoryview) -> int:
    rest = memoryview(piece).cast("B")
    size_bytes = len(rest)
    while rest:
        rest = rest[os.write(handle, rest[:_PIECE_BYTES]) :]
    return size_bytes


def _flush_folder(folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as reason:
        # Some network file systems cannot flush a folder; the new name stands all the same.
        if reason.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EROFS):
            raise
