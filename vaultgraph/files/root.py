"""The sandbox: a vault folder held by its handle, and vault-relative paths opened below it.

Every path of a caller enters here as text, is checked before the disk is touched, and is then opened component by
component (files/resolve). Nothing outside the vault and nothing but regular files is ever opened. It does not decode
and does not cache.
"""

import errno
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from vaultgraph.errors import FileError, MissingFileError, PathEscapeError, SettingsError, TooLargeError
from vaultgraph.files.nearest import nearest_paths
from vaultgraph.files.resolve import OPEN_DOT_FOLDER, Found, NothingThereError, resolving
from vaultgraph.frozen import frozen

FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
CACHE_FOLDER: Final = ".kglite"  # in the vault, as the next
DEFAULT_CACHE: Final = f"{CACHE_FOLDER}/graph.kgl"
_DATALESS: Final = 0x40000000  # macOS SF_DATALESS: the content is in the cloud only
_SMALL_BYTES: Final = 4096  # files up to this size may be stored inside their inode, in no block at all
_KINDS: Final = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@frozen
class FileStatus:
    """``path`` is where a path really leads, without symlinks; ``size_bytes`` and ``mtime_ns`` are the target's."""

    path: str
    is_folder: bool
    size_bytes: int
    mtime_ns: int


class VaultRoot:
    """An open vault folder. Safe to share between threads until it is closed."""

    def __init__(self, path: Path, handle: int, asked: str) -> None:
        status = os.fstat(handle)
        self.path = path
        self.name = path.name or str(path)
        self.handle = handle
        self.counts_blocks = True
        """Whether the file system tells how many blocks a file takes; stamps.scan finds out."""
        self._identity = (status.st_dev, status.st_ino)
        # The root itself ("/") is left out: every absolute link would lie below it.
        self.spellings = tuple(sorted({text.rstrip("/") for text in (str(path), asked) if text.startswith("/")} - {""}))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Hold the folder ``path`` open; a leading ``~`` is the user's home.

        Raises:
            SettingsError: it does not exist, is not a folder, or may not be read.
        """
        asked: str = os.path.expanduser(path)  # noqa: PTH111 -- a shell may leave the tilde to us
        if not asked:  # an unset variable in a script, and not the current folder
            raise SettingsError("The name of the folder is empty. Name the folder of your vault, or . for this one.")
        try:
            resolved = Path(asked).resolve(strict=True)
            handle = os.open(resolved, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as reason:
            raise SettingsError(f"{asked}: no such folder. Name the folder of your vault.") from reason
        except NotADirectoryError as reason:
            raise SettingsError(f"{asked}: is a file. Name the folder that holds the notes.") from reason
        except (OSError, ValueError, RuntimeError) as reason:
            raise SettingsError(f"{asked}: the folder cannot be read ({reason}). Check its permissions.") from reason
        return cls(resolved, handle, asked)

    def close(self) -> None:
        """Let go of the folder; what was read stays valid. Closing twice is fine."""
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)

    def __del__(self) -> None:
        if hasattr(self, "handle"):  # else not even made
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def exists(self) -> bool:
        """Whether the folder held open is still what its path names."""
        try:
            status = self.path.stat()
        except (OSError, ValueError):
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def check(self, rel: str) -> str:
        """``rel`` normalised ("." and empty components dropped; "" is the vault itself), judged by its text alone.

        Raises:
            PathEscapeError: it is absolute, has a `..`, a NUL, a dot component and so on; the message names the rule.
        """
        return check_path(rel)

    def stat(self, rel: str) -> FileStatus:
        """Size and time of a file or folder.

        Raises:
            PathEscapeError, MissingFileError, FileError: as ``read_bytes``.
        """
        with self.find(rel) as found:
            status = found.status
            return FileStatus(found.path, found.is_folder, status.st_size, status.st_mtime_ns)

    def is_folder(self, rel: str) -> bool:
        """Whether ``rel`` is a folder of the vault; false for what is missing or refused."""
        try:
            with self.find(rel, with_nearest=False) as found:
                return found.is_folder
        except FileError:
            return False

    def is_real_folder(self, name: str) -> bool:
        """Whether the folder ``name`` lies directly in the vault; false where nothing is there.

        Raises:
            FileError: it is a symlink, a file, or cannot be looked at.
        """
        try:
            mode = os.stat(name, dir_fd=self.handle, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return False
        except OSError as reason:
            raise FileError(f"{name}: cannot be looked at ({reason.strerror}).") from reason
        if not stat.S_ISDIR(mode):
            raise FileError(f"{name}: is {'a symlink' if stat.S_ISLNK(mode) else 'a file'}, not a folder of the vault.")
        return True

    @contextmanager
    def find(self, rel: str, *, with_nearest: bool = True) -> Generator[Found]:
        """Look ``rel`` up; the handle in what is yielded lives as long as the ``with`` block.

        A name that starts like an address, such as ``C:.md`` or ``~x.md``, is refused only where no file has it.

        ``with_nearest``: whether a miss is worth looking for near names, which walks the vault.

        Raises:
            PathEscapeError, MissingFileError, FileError: as ``read_bytes``.
        """
        path = check_path(named := askable(rel))
        if self.handle < 0:
            raise FileError(f"{rel}: the vault is closed.")
        try:
            with resolving(self.handle, self.spellings, path) as found:
                yield found
        except NothingThereError as miss:
            if named != rel:
                check_path(rel)  # says which rule it breaks
            nearest = nearest_paths(self.handle, miss.folder, miss.name, miss.rest) if with_nearest else []
            advice = f" Did you mean {' or '.join(nearest)}?" if nearest else " list_source shows what is there."
            raise MissingFileError(f"{path}: not in the vault.{advice}", {"nearest": nearest}) from miss

    def read_bytes(self, rel: str, *, most_bytes: int) -> bytes:
        """The content of a regular file.

        Raises:
            PathEscapeError: the path or a symlink on it leaves the vault, or names what is never served.
            MissingFileError: nothing is there; ``data["nearest"]`` names what is.
            TooLargeError: it has more than ``most_bytes``.
            FileError: a folder, a pipe, a device, an unreadable file, or content that is not on this machine.
        """
        with self.find(rel) as found:
            if found.is_folder:
                raise FileError(f"{found.path or '.'}: is a folder. list_source shows what is in it.")
            return self._read_file(found, most_bytes)

    def _read_file(self, found: Found, most_bytes: int) -> bytes:
        _refuse_special(found.path, found.status.st_mode)  # before opening: opening a device may act on it
        if is_placeholder(found.status, self.counts_blocks):
            raise _offline(found.path)
        try:
            handle = os.open(found.name, FILE_FLAGS, dir_fd=found.folder)
        except OSError as reason:
            text = "it changed while it was opened" if reason.errno == errno.ELOOP else reason.strerror
            raise FileError(f"{found.path}: cannot be read ({text}). Try again or check its permissions.") from reason
        try:
            status = os.fstat(handle)
            _refuse_special(found.path, status.st_mode)
            if status.st_size > most_bytes:
                raise TooLargeError(
                    f"{found.path}: {status.st_size:,} bytes, over the cap of {most_bytes:,} bytes.",
                    {"size_bytes": status.st_size, "most_bytes": most_bytes},
                )
            if is_placeholder(status, self.counts_blocks):
                raise _offline(found.path)
            data = read_whole(handle, status.st_size, most_bytes)
        except OSError as reason:
            raise FileError(f"{found.path}: cannot be read ({reason.strerror}).") from reason
        finally:
            os.close(handle)
        if len(data) > most_bytes:  # it grew since it was measured
            raise TooLargeError(f"{found.path}: over the cap of {most_bytes:,} bytes.", {"most_bytes": most_bytes})
        return data


def check_path(rel: str) -> str:
    """The text check behind ``VaultRoot.check``; pure."""
    rule = _broken_rule(rel)
    if rule is not None:
        shown = rel if len(rel) <= 200 else f"{rel[:200]}…"
        shown = shown.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
        raise PathEscapeError(f"{shown}: {rule}. Paths are relative to the vault, such as Folder/Note.md.")
    return "/".join(part for part in rel.split("/") if part not in ("", "."))


def check_listed(path: str) -> None:
    """Refuse what no walk of a vault ever lists; pure. Names such as ``C:.md`` or ``~x.md`` are fine: they are names.

    Raises:
        PathEscapeError: a component is empty, starts with a dot or holds a NUL.
    """
    if "\0" in path or any(not part or part[0] == "." for part in path.split("/")):
        raise PathEscapeError(f"{path!r}: is not the path of a file of this vault.")


def askable(path: str) -> str:
    """``path`` as ``check_path`` takes it: with ./ in front where a name starts like an address, such as ``C:.md``."""
    return path if path.startswith("/") or _broken_start(path) is None else f"./{path}"


def _broken_rule(rel: str) -> str | None:
    if "\0" in rel:
        return "a path never holds a NUL character"
    if not rel.isascii() and any("\ud800" <= char <= "\udfff" for char in rel):
        return "the path is not valid Unicode text"
    if rule := _broken_start(rel):
        return rule
    if ".." in re.split(r"[/\\]", rel):
        return "`..` is refused"
    parts = [part for part in rel.split("/") if part not in ("", ".")]
    for index, part in enumerate(parts):
        if part.startswith(".") and (index or part != OPEN_DOT_FOLDER):
            return f"names that start with a dot are not served, except below {OPEN_DOT_FOLDER}/"
    return None


def _broken_start(rel: str) -> str | None:
    if rel.startswith(("\\\\", "//")):
        return "UNC paths are refused"
    if rel.startswith("/"):
        return "absolute paths are refused"
    named = "; a file whose name starts so is asked for with ./ in front"
    if rel.startswith("\\"):
        return f"absolute paths are refused{named}"
    if rel.startswith("~"):
        return f"paths that start with ~ are refused{named}"
    if re.match(r"file:", rel, re.IGNORECASE):
        return f"file: addresses are refused{named}"
    if re.match(r"[A-Za-z]:", rel):
        return f"paths with a drive letter are refused{named}"
    return None


def is_placeholder(status: os.stat_result, counts_blocks: bool) -> bool:
    """Whether the content of a file is in the cloud only, so that reading would download it."""
    if getattr(status, "st_flags", 0) & _DATALESS:
        return True
    return counts_blocks and status.st_size > _SMALL_BYTES and getattr(status, "st_blocks", 1) == 0


def read_whole(handle: int, size_bytes: int, most_bytes: int | None = None) -> bytes:
    """All bytes from ``handle``: one read of the expected size, more where it grew (until over ``most_bytes``)."""
    data = os.read(handle, size_bytes + 1)
    if len(data) == size_bytes:
        return data
    pieces, total = [data], len(data)
    while pieces[-1] and (most_bytes is None or total <= most_bytes):
        pieces.append(os.read(handle, 1 << 20))
        total += len(pieces[-1])
    return b"".join(pieces)


def _offline(path: str) -> FileError:
    return FileError(f"{path}: its content is in the cloud only. Download it, then ask again.")


def _refuse_special(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "not a regular file")
    raise FileError(f"{path}: is {kind}; only regular files are read.")
