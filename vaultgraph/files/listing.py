"""What lies in a folder of the vault, as a flat list in tree order.

Behind the tool `list_source`. Shows what can be served: no names that start with a dot (but `.kglite`), no symlinks
that leave the vault. Symlinked folders are shown, never entered.
"""

import os
import stat
from collections.abc import Iterator
from typing import Final

from vaultgraph.errors import FileError, ParameterError
from vaultgraph.files.globs import matching
from vaultgraph.files.resolve import FOLDER_FLAGS, OPEN_DOT_FOLDER
from vaultgraph.files.root import VaultRoot, askable
from vaultgraph.files.walk import FolderCache, fold, folders_of
from vaultgraph.frozen import frozen

MOST_SEEN: Final = 200_000  # entries looked at before a listing gives up counting
MOST_DEPTH: Final = 100  # every level holds a handle


@frozen
class Entry:
    """``depth`` is 1 for what lies directly in the folder asked for; ``size_bytes`` 0 for folders."""

    path: str
    is_folder: bool
    size_bytes: int
    depth: int


@frozen
class Listing:
    """``entries``: in tree order, a folder before what is in it; ``total`` how many there are (at least, where the
    vault has over 200,000); ``is_cut``: not all of them are in ``entries``. ``looked_at``: how many there are
    without the glob."""

    path: str
    entries: tuple[Entry, ...]
    total: int
    is_cut: bool
    looked_at: int


def list_tree(
    root: VaultRoot,
    path: str = ".",
    depth: int = 1,
    glob: str | None = None,
    dirs_only: bool = False,
    most: int = 500,
) -> Listing:
    """List the folder ``path`` and ``depth - 1`` levels of its subfolders (at most 100 levels).

    With ``glob`` only the entries it matches, by path from the root of the vault or from ``path``.

    Raises:
        MissingFileError: no such folder; ``data["nearest"]`` names what is there.
        PathEscapeError, FileError: a refused path, a file, or a folder that cannot be read.
        ParameterError: ``depth`` below 1, ``most`` below 0, or a bad glob.
    """
    if depth < 1 or most < 0:
        name = "depth" if depth < 1 else "max_entries"
        raise ParameterError(f"{name}: must be {1 if depth < 1 else 0} or more.", {"name": name, "reason": "too small"})
    with root.find(path) as found:
        start = found.path
        if not found.is_folder:
            raise FileError(f"{start}: is a file, not a folder. read_source or fetch_images give its content.")
    prefix = f"{start}/" if start else ""
    seen: list[Entry] = []
    try:
        with folders_of(root.handle) as folders:
            for entry in _entries(root, folders, start, 1, min(depth, MOST_DEPTH)):
                seen.append(entry)
                if len(seen) >= MOST_SEEN:
                    break
    except OSError as reason:
        raise FileError(f"{start or '.'}: the folder cannot be read ({reason.strerror}).") from reason
    paths = [entry.path for entry in seen]
    from_root = matching(paths, glob)
    from_start = matching([path.removeprefix(prefix) for path in paths], glob)
    chosen = [
        entry
        for entry, by_root, by_start in zip(seen, from_root, from_start, strict=True)
        if (by_root or by_start) and (entry.is_folder or not dirs_only)
    ]
    return Listing(start, tuple(chosen[:most]), len(chosen), len(chosen) > most or len(seen) >= MOST_SEEN, len(seen))


def _entries(root: VaultRoot, folders: FolderCache, folder: str, level: int, depth: int) -> Iterator[Entry]:
    """Entries of ``folder`` in order of their folded names, each folder followed by what is in it.

    Raises:
        OSError: ``folder`` itself cannot be read, at the first level; deeper ones are shown without content.
    """
    prefix = f"{folder}/" if folder else ""
    for name, kind in _sorted_names(folders.handle(folder), is_root=not folder):
        path = prefix + name
        if kind == "link":
            shown = _link(root, path, level)
            if shown:
                yield shown
        elif kind == "folder":
            yield Entry(path, True, 0, level)
            if level < depth:
                try:
                    yield from _entries(root, folders, path, level + 1, depth)
                except OSError:
                    continue
        elif kind == "file":
            try:
                status = os.stat(name, dir_fd=folders.handle(folder), follow_symlinks=False)
            except OSError:
                continue  # removed since it was listed
            yield Entry(path, False, status.st_size, level)


def _sorted_names(handle: int, *, is_root: bool) -> list[tuple[str, str]]:
    """Names and kinds ("folder", "file", "link", "other"); the handle must be open to tell the kind on some systems."""
    fresh = os.open(".", FOLDER_FLAGS, dir_fd=handle)
    try:
        with os.scandir(fresh) as entries:
            names = [
                (entry.name, _kind(entry))
                for entry in entries
                if (entry.name[0] != "." or (is_root and entry.name == OPEN_DOT_FOLDER)) and _is_text(entry.name)
            ]
    finally:
        os.close(fresh)
    return sorted(names, key=lambda item: (fold(item[0]), item[0]))


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _link(root: VaultRoot, path: str, level: int) -> Entry | None:
    try:
        with root.find(askable(path), with_nearest=False) as found:
            if found.is_folder:
                return Entry(path, True, 0, level)
            return Entry(path, False, found.status.st_size, level) if stat.S_ISREG(found.status.st_mode) else None
    except FileError:
        return None


def _is_text(name: str) -> bool:
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)
