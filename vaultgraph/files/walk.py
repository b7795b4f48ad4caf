"""Every folder of a vault, one after the other, by handle: what stamps, grep and the search for near names share.

Prunes what a vault never contains (names that start with a dot, node_modules and the like) and never follows a symlink.
It reads names and kinds only; sizes and contents are the caller's to fetch while a folder is open.
"""

import os
import unicodedata
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from vaultgraph.files.resolve import FOLDER_FLAGS
from vaultgraph.frozen import frozen

PRUNED_NAMES: Final = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_MOST_DEPTH: Final = 256  # every level holds a handle while its subfolders are walked


@frozen
class SkipRule:
    """Folders to leave out: ``names`` at any depth, ``paths`` from the root; both folded by ``fold``."""

    names: frozenset[str]
    paths: frozenset[str]

    def holds(self, path: str, name: str) -> bool:
        """Whether the folder ``path``, whose last component is ``name``, is left out."""
        if name in PRUNED_NAMES:
            return True
        if not self.names and not self.paths:
            return False
        return fold(name) in self.names or fold(path) in self.paths


@frozen
class Folder:
    """One kept folder; ``prefix`` is its path with a trailing slash, "" for the root.

    ``files`` are its regular files, ``links`` its symlinks, ``hidden`` names that start with a dot, ``bad`` the
    printable form of names that are not UTF-8. ``handle`` is open until the next folder is asked for. Where the folder
    cannot be read ``failure`` says why and the rest is empty.
    """

    prefix: str
    handle: int
    files: list[os.DirEntry[str]]
    links: list[str]
    hidden: list[str]
    bad: list[str]
    failure: str | None = None


def fold(name: str) -> str:
    """The form in which file names are compared: NFC, then full case folding."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def skip_rule(skip_dirs: Sequence[str]) -> SkipRule:
    """The rule for a profile's ``skip_dirs``: a bare name at any depth, with a slash from the root."""
    names = {fold(entry) for entry in skip_dirs if "/" not in entry and entry}
    paths = {fold(entry.strip("/")) for entry in skip_dirs if "/" in entry and entry.strip("/")}
    return SkipRule(frozenset(names), frozenset(paths))


def walk(root: int, skip: SkipRule) -> Iterator[Folder]:
    """The kept folders below the handle ``root``, each before its subfolders; siblings in name order.

    Raises:
        OSError: the root itself cannot be read.
    """
    # One level of the way down: the open handle, the path prefix, the names still to enter (last one first).
    levels: list[tuple[int, str, list[str]]] = []
    try:
        levels.append((os.open(".", FOLDER_FLAGS, dir_fd=root), "", []))
        folder, below = _read(levels[0][0], "", skip)
        levels[0][2].extend(below)
        yield folder
        while levels:
            handle, prefix, names = levels[-1]
            if not names:
                levels.pop()
                os.close(handle)
                continue
            name = names.pop()
            path = f"{prefix}{name}/"
            if len(levels) > _MOST_DEPTH:
                yield _failed(path, f"lies more than {_MOST_DEPTH} folders deep")
                continue
            try:
                inner = os.open(name, FOLDER_FLAGS, dir_fd=handle)
            except OSError as reason:
                yield _failed(path, reason.strerror or str(reason))
                continue
            levels.append((inner, path, []))
            try:
                folder, below = _read(inner, path, skip)
            except OSError as reason:
                folder, below = _failed(path, reason.strerror or str(reason)), []
            levels[-1][2].extend(below)
            yield folder
    finally:
        for handle, _, _ in levels:
            os.close(handle)


@contextmanager
def folders_of(root: int) -> Generator["FolderCache"]:
    """Handles of folders for reading many files in path order; closed at the end of the block."""
    cache = FolderCache(root)
    try:
        yield cache
    finally:
        cache.close()


class FolderCache:
    """The handle of the folder last asked for, and of those above it, so that a sorted run of paths opens each once."""

    def __init__(self, root: int) -> None:
        self._names: list[str] = []
        self._handles: list[int] = [os.open(".", FOLDER_FLAGS, dir_fd=root)]
        self._path = ""

    def handle(self, folder: str) -> int:
        """A handle of ``folder`` (path without symlinks), valid until the next call.

        Raises:
            OSError: it is missing, a symlink, or may not be entered.
        """
        if folder == self._path:
            return self._handles[-1]
        wanted = folder.split("/") if folder else []
        shared = 0
        while shared < min(len(wanted), len(self._names)) and wanted[shared] == self._names[shared]:
            shared += 1
        while len(self._names) > shared:
            self._names.pop()
            os.close(self._handles.pop())
        self._path = "/".join(self._names)
        for name in wanted[shared:]:
            self._handles.append(os.open(name, FOLDER_FLAGS, dir_fd=self._handles[-1]))
            self._names.append(name)
            self._path = "/".join(self._names)
        return self._handles[-1]

    def close(self) -> None:
        """Close every handle."""
        while self._handles:
            os.close(self._handles.pop())


def printable(name: str) -> str:
    """A file name as text that can be stored: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def _failed(path: str, reason: str) -> Folder:
    return Folder(path, -1, [], [], [], [], reason)


def _read(handle: int, prefix: str, skip: SkipRule) -> tuple[Folder, list[str]]:
    """One folder's entries, and the names of the subfolders to enter, last one first."""
    files: list[os.DirEntry[str]] = []
    links: list[str] = []
    hidden: list[str] = []
    bad: list[str] = []
    below: list[str] = []
    with os.scandir(handle) as entries:
        listed = list(entries)
    is_all_text = _is_text("".join([entry.name for entry in listed]))
    for entry in listed:
        name = entry.name
        if name[0] == ".":
            hidden.append(name)
        elif not is_all_text and not _is_text(name):
            bad.append(printable(name))
        elif entry.is_file(follow_symlinks=False):
            files.append(entry)
        elif entry.is_symlink():
            links.append(name)
        elif entry.is_dir(follow_symlinks=False) and not skip.holds(f"{prefix}{name}", name):
            below.append(name)
    below.sort(reverse=True)
    return Folder(prefix, handle, files, links, hidden, bad), below


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
