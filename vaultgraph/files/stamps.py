"""What a stat pass over a vault sees: path, size and time of every file that counts, and reading many of them at once.

The start of every build and refresh. Decides by the rules of VAULT.md which files belong to a vault; it does not look
into files. Reading is by folder handle, regular files only, and never waits for a pipe or a download.
"""

import errno
import os
import stat
import sys
import time
from bisect import bisect_left
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import polars as pl

from vaultgraph.errors import BuildError, FileError, MissingFileError, PathEscapeError
from vaultgraph.files.root import FILE_FLAGS, VaultRoot, askable, check_listed, is_placeholder, read_whole
from vaultgraph.files.walk import Folder, FolderCache, folders_of, printable, skip_rule, walk
from vaultgraph.frozen import frozen

STAMPS: Final = pl.Schema(
    {"path": pl.String, "size_bytes": pl.Int64, "mtime_ns": pl.Int64, "ctime_ns": pl.Int64, "inode": pl.Int64}
)
"""``ctime_ns``: when the file's entry last changed; no program can set it: it tells of an edit that restored mtime.
``inode``: tells of another file that took the name, where the time of the entry does not."""
ALIASES: Final = pl.Schema({"path": pl.String, "target": pl.String})
FILE_PROBLEMS: Final = pl.Schema(
    {"path": pl.String, "line": pl.Int32, "code": pl.String, "severity": pl.String, "message": pl.String}
)

Problem = tuple[str, int | None, str, str, str]
"""One row of FILE_PROBLEMS."""

_ICLOUD: Final = ".icloud"  # .Note.md.icloud stands for a Note.md that is in the cloud only
_INODE: Final = 2**63 - 1  # some file systems number files with 64 bits or more
_FEW: Final = 64  # paths that are looked up one by one
_SMALL_BYTES: Final = 4096
_UNTIMED: Final = FILE_FLAGS | getattr(os, "O_NOATIME", 0)
"""That a file was read is not written down, which takes as long as reading a small one; for its owner only."""
_HAS_FLAGS: Final = sys.platform != "linux"  # by which a small file may be in the cloud only
_MOST_BYTES: Final = 1 << 26  # of one file that is read: a larger one would be held in memory several times


@frozen
class Stamps:
    """One stat pass.

    ``files``: STAMPS, sorted by path, every kept regular file, notes and others. ``folders``: every kept folder,
    sorted, without the root. ``aliases``: symlinks inside the vault with what they finally lead to ("" is the vault
    itself), sorted by path; targets are never symlinks. ``problems``: FILE_PROBLEMS, sorted by path. ``taken_ns``: the
    time before the first stat, nanoseconds since 1970.
    """

    files: pl.DataFrame
    folders: list[str]
    aliases: pl.DataFrame
    problems: pl.DataFrame
    taken_ns: int = 0


def is_note(path: str) -> bool:
    """Whether ``path`` is a note: ``.md`` in any letter case."""
    return path[-3:].lower() == ".md"


def is_canvas(path: str) -> bool:
    """Whether ``path`` is a JSON Canvas file."""
    return path[-7:].lower() == ".canvas"


def scan(root: VaultRoot, skip_dirs: Sequence[str] = ()) -> Stamps:
    """Stat every file of the vault.

    Raises:
        BuildError: the vault folder is gone or cannot be read at all.
    """
    if not root.exists():
        raise BuildError(f"{root.path}: the vault folder is gone or was replaced. Restore it, or open the vault again.")
    seen = _Seen()
    taken_ns = time.time_ns()
    try:
        for folder in walk(root.handle, skip_rule(skip_dirs)):
            seen.add_folder(root, folder)
    except OSError as reason:
        raise BuildError(f"{root.path}: the vault folder cannot be read ({reason.strerror}).") from reason
    if seen.without_blocks:
        # Where no file at all takes a block, the file system does not count them and the sign means nothing.
        root.counts_blocks = seen.has_blocks
    for path in seen.without_blocks if root.counts_blocks else ():
        seen.problems.append(_offline(path))
    files = pl.DataFrame([seen.paths, seen.sizes, seen.times, seen.changes, seen.inodes], schema=STAMPS)
    return Stamps(
        files=files.sort("path"),
        folders=sorted(seen.folders),
        aliases=pl.DataFrame(seen.aliases, schema=ALIASES, orient="row").sort("path"),
        problems=problem_frame(seen.problems),
        taken_ns=taken_ns,
    )


def places_of(paths: pl.Series, asked: Sequence[str]) -> list[int]:
    """The first row of ``paths``, which are sorted, that is not before each of the ``asked``."""
    if len(asked) > _FEW:
        return paths.search_sorted(pl.Series(asked, dtype=pl.String)).to_list()
    return [bisect_left(paths, path) for path in asked]  # UTF-8 has the order of code points


def restat(root: VaultRoot, old: Stamps, written: Collection[str]) -> Stamps | None:
    """What ``scan`` would see where nothing but ``written`` was touched since ``old``, without walking the folder.

    None where only a walk can tell: a file or folder came or went, or ``old`` has a problem with one of the paths.
    """
    taken_ns = time.time_ns()
    paths = sorted(path for path in written if path[:1] != ".")  # what starts with a dot is in no stamps
    known = old.files["path"]
    rows: list[int] = []
    found: list[os.stat_result] = []
    others = {*old.folders, *old.aliases["path"], *old.problems["path"]} if paths else set[str]()
    with folders_of(root.handle) as folders:
        # row loop: the files that were written, which somebody did one by one
        for path, row in zip(paths, places_of(known, paths), strict=True):
            status = _status(folders, path)
            is_known = row < len(known) and known[row] == path
            if path in others or is_known != (status is not None):
                return None
            if status is None:
                continue  # it came and went, as editors' temporary files do
            if not stat.S_ISREG(status.st_mode) or (status.st_size > _SMALL_BYTES and not status.st_blocks):
                return None
            rows.append(row)
            found.append(status)
    if not rows:
        return replace(old, taken_ns=taken_ns)
    columns = {
        "size_bytes": [status.st_size for status in found],
        "mtime_ns": [status.st_mtime_ns for status in found],
        "ctime_ns": [status.st_ctime_ns for status in found],
        "inode": [status.st_ino & _INODE for status in found],
    }
    changed = {name: old.files[name].clone().scatter(rows, values) for name, values in columns.items()}
    files = pl.DataFrame([changed.get(column.name, column) for column in old.files.iter_columns()])
    return replace(old, files=files, taken_ns=taken_ns)


def _status(folders: FolderCache, path: str) -> os.stat_result | None:
    """None where nothing is there, or cannot be looked at."""
    folder, _, name = path.rpartition("/")
    try:
        return os.stat(name, dir_fd=folders.handle(folder), follow_symlinks=False)
    except (OSError, ValueError):
        return None


def problem_frame(problems: Sequence[Problem]) -> pl.DataFrame:
    """FILE_PROBLEMS rows as a frame, sorted by path and code."""
    return pl.DataFrame(list(problems), schema=FILE_PROBLEMS, orient="row").sort("path", "code", maintain_order=True)


def read_files(root: VaultRoot, paths: Sequence[str], sizes: Sequence[int]) -> tuple[list[bytes | None], list[Problem]]:
    """The content of the files at ``paths`` (as ``scan`` spells them), in the order asked.

    ``sizes`` are the expected sizes in bytes, a hint: a file that changed since is read whole. None where a file cannot
    be read, with a problem that says why (`unreadable` warning, `offline` info). Fastest in path order.

    Raises:
        PathEscapeError: a path that ``scan`` never answers.
    """
    contents: list[bytes | None] = []
    problems: list[Problem] = []
    last_folder = ""
    counts_blocks, flags = root.counts_blocks, _UNTIMED
    with folders_of(root.handle) as folders:
        handle_of = folders.handle
        for path, size_bytes in zip(paths, sizes, strict=True):
            folder, _, name = path.rpartition("/")
            # The whole check costs more than the read of a small note, so a folder is checked once for all its files.
            if folder != last_folder or not name or name[0] == "." or "\0" in name:
                check_listed(path)
                last_folder = folder
            try:
                try:
                    data = _read_one(handle_of(folder), name, size_bytes, counts_blocks, flags)
                except PermissionError as reason:
                    if reason.errno != errno.EPERM or flags == FILE_FLAGS:
                        raise
                    flags = FILE_FLAGS  # the files are another user's
                    data = _read_one(handle_of(folder), name, size_bytes, counts_blocks, flags)
            except OSError as reason:
                data = None
                problems.append(_why_unread(folders, path, reason))
            else:
                if data is None:
                    problems.append(_offline(path))
            contents.append(data)
    return contents, problems


def replaced_since(root: VaultRoot, stamps: Stamps, unread: Sequence[str]) -> list[str]:
    """Those of ``unread``, files that could not be read, which are other files by now than ``stamps`` say, or gone.

    An editor may take a file away for a moment to put another one in its place.
    """
    if not unread:
        return []
    stated = stamps.files.filter(pl.col("path").is_in(list(unread))).select("path", "inode", "size_bytes", "mtime_ns")
    found: list[str] = []
    with folders_of(root.handle) as folders:
        for path, *known in stated.iter_rows():  # row loop: the files that could not be read
            status = _status(folders, path)
            if status is None or [status.st_ino & _INODE, status.st_size, status.st_mtime_ns] != known:
                found.append(path)
    return found


def without_files(stamps: Stamps, paths: Sequence[str]) -> Stamps:
    """``stamps`` as if the files at ``paths`` were not there."""
    return replace(stamps, files=stamps.files.filter(~pl.col("path").is_in(list(paths))))


def _read_one(folder: int, name: str, size_bytes: int, counts_blocks: bool, flags: int) -> bytes | None:
    """The whole file, opened with ``flags``; None where its content is not on this machine."""
    if size_bytes > _SMALL_BYTES and is_placeholder(os.stat(name, dir_fd=folder, follow_symlinks=False), counts_blocks):
        return None  # not even opened; smaller ones show only by the flag of macOS, which is looked at below
    handle = os.open(name, flags, dir_fd=folder)
    try:
        if 0 < size_bytes <= _MOST_BYTES and not _HAS_FLAGS:
            # What gives just as many bytes as the stat pass saw is the regular file that it saw: one question less to
            # the system is a fifth of reading a small note. A pipe gives nothing, since nothing here waits.
            data = os.read(handle, size_bytes + 1)
            if len(data) == size_bytes:
                return data
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if is_placeholder(status, counts_blocks):
            return None
        os.lseek(handle, 0, os.SEEK_SET)
        if status.st_size <= _MOST_BYTES:
            data = read_whole(handle, status.st_size or size_bytes, _MOST_BYTES)
            if len(data) <= _MOST_BYTES:
                return data
        raise OSError(errno.EFBIG, f"it has more than {_MOST_BYTES >> 20} MiB")
    finally:
        os.close(handle)


def _why_unread(folders: FolderCache, path: str, reason: OSError) -> Problem:
    folder, _, name = path.rpartition("/")
    if reason.errno == errno.ENOENT:
        try:
            os.stat(f".{name}{_ICLOUD}", dir_fd=folders.handle(folder), follow_symlinks=False)
        except OSError:
            pass
        else:
            return _offline(path)
    text = "a symlink took its place" if reason.errno == errno.ELOOP else reason.strerror
    return path, None, "unreadable", "warning", f"The file cannot be read: {text}."


def _offline(path: str) -> Problem:
    return path, None, "offline", "info", "The content is in the cloud only; it is not downloaded to be read."


def _still_there(paths: list[str], entries: list[os.DirEntry[str]]) -> tuple[list[str], list[os.stat_result]]:
    """Those of the files that can be looked at."""
    found: dict[str, os.stat_result] = {}
    for path, entry in zip(paths, entries, strict=True):
        with suppress(OSError):
            found[path] = entry.stat(follow_symlinks=False)
    return list(found), list(found.values())


class _Seen:
    """The lists a scan fills."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.sizes: list[int] = []
        self.times: list[int] = []
        self.changes: list[int] = []
        self.inodes: list[int] = []
        self.folders: list[str] = []
        self.aliases: list[tuple[str, str]] = []
        self.problems: list[Problem] = []
        self.without_blocks: list[str] = []
        self.has_blocks = False

    def add_folder(self, root: VaultRoot, folder: Folder) -> None:
        prefix = folder.prefix
        if prefix:
            self.folders.append(prefix[:-1])
        if folder.failure is not None:
            message = f"The folder cannot be read: {folder.failure}. Nothing below it is in the graph."
            self.problems.append((prefix[:-1], None, "unreadable", "warning", message))
            return
        paths = [f"{prefix}{entry.name}" for entry in folder.files]
        try:
            found = [entry.stat(follow_symlinks=False) for entry in folder.files]
        except OSError:  # one was removed since it was listed
            paths, found = _still_there(paths, folder.files)
        self._add_files(paths, found)
        self._add_cloud_files(folder)
        for name in folder.links:
            self._add_link(root, prefix + name)
        for name in folder.bad:
            message = "The name is not UTF-8; the file or folder is left out. Rename it."
            self.problems.append((prefix + name, None, "bad-name", "warning", message))

    def _add_files(self, paths: list[str], found: list[os.stat_result]) -> None:
        self.paths += paths
        self.sizes += [status.st_size for status in found]
        self.times += [status.st_mtime_ns for status in found]
        self.changes += [status.st_ctime_ns for status in found]
        self.inodes += [status.st_ino & _INODE for status in found]
        blocks = [status.st_blocks for status in found]
        self.has_blocks = self.has_blocks or any(status.st_size and status.st_blocks for status in found)
        if not all(blocks):
            stated = zip(paths, found, strict=True)
            self.without_blocks += [
                path for path, status in stated if status.st_size > _SMALL_BYTES and not status.st_blocks
            ]

    def _add_cloud_files(self, folder: Folder) -> None:
        stubs = [name for name in folder.hidden if name.endswith(_ICLOUD) and len(name) > len(_ICLOUD) + 1]
        if not stubs:
            return
        present = {entry.name for entry in folder.files}
        for stub in stubs:
            name = stub[1 : -len(_ICLOUD)]
            if name in present or name.startswith("."):
                continue
            try:
                status = os.stat(stub, dir_fd=folder.handle, follow_symlinks=False)
            except OSError:
                continue
            path = folder.prefix + name
            if stat.S_ISREG(status.st_mode):
                self.paths.append(path)
                self.sizes.append(status.st_size)
                self.times.append(status.st_mtime_ns)
                self.changes.append(status.st_ctime_ns)
                self.inodes.append(status.st_ino & _INODE)
                self.problems.append(_offline(path))

    def _add_link(self, root: VaultRoot, path: str) -> None:
        try:
            with root.find(askable(path), with_nearest=False) as found:
                if (shown := printable(found.path)) != found.path:
                    message = f"Not followed: it leads to {shown}, whose name is not UTF-8."
                    self.problems.append((path, None, "symlink-broken", "info", message))
                elif found.is_folder or stat.S_ISREG(found.status.st_mode):
                    self.aliases.append((path, found.path))
        except PathEscapeError as reason:
            message = f"Not followed: {printable(reason.message)}"
            self.problems.append((path, None, "symlink-outside", "info", message))
        except MissingFileError:
            self.problems.append((path, None, "symlink-broken", "info", "The symlink leads to nothing."))
        except FileError as reason:
            message = f"Not followed: {printable(reason.message)}"
            self.problems.append((path, None, "symlink-broken", "info", message))
