"""What a caller may have meant by a path that is not there: the nearest names that exist.

Called by files/root when a look-up fails. Looks at the folder where the path broke off, and for one file of that name
anywhere else; it reads names only.
"""

import os
from typing import Final

from vaultgraph.files.resolve import FOLDER_FLAGS, OPEN_DOT_FOLDER
from vaultgraph.files.walk import FolderCache, fold, folders_of, skip_rule, walk

_MOST_NAMES: Final = 20_000  # entries of one folder compared
_MOST_FILES: Final = 200_000  # files of the vault looked at
_MOST_ANSWERS: Final = 3


def nearest_paths(root: int, folder: str, name: str, rest: str) -> list[str]:
    """Up to three existing paths, best first, for ``name`` (then ``rest``) not found in ``folder``.

    Never raises: a folder that cannot be read has no near names.
    """
    if name == OPEN_DOT_FOLDER:  # most vaults have none, and every refresh asks
        return []
    try:
        here = _near_in_folder(root, folder, name, rest)
        if folder.split("/")[0] == OPEN_DOT_FOLDER:
            return list(dict.fromkeys(here))
        elsewhere = _same_name_elsewhere(root, (rest or name).rsplit("/", 1)[-1])
    except NotADirectoryError:
        return [folder]  # the path went on below a file
    except (OSError, ValueError):
        return []
    # The same name in another letter case is the surest answer, then the only file of that name, then likeness.
    exact = [path for path in here if fold(path.rsplit("/", 1)[-1]) == fold((rest or name).rsplit("/", 1)[-1])]
    return list(dict.fromkeys([*exact, *elsewhere, *here]))[:_MOST_ANSWERS]


def _near_in_folder(root: int, folder: str, name: str, rest: str) -> list[str]:
    with folders_of(root) as folders:
        names = _visible_names(folders.handle(folder), at_root=not folder)
        by_fold: dict[str, str] = {}
        for known in names:
            by_fold.setdefault(fold(known), known)
            by_fold.setdefault(fold(os.path.splitext(known)[0]), known)  # noqa: PTH122 - text, not a path on disk
        from difflib import get_close_matches  # noqa: PLC0415 -- seldom needed

        near = get_close_matches(fold(name), by_fold, n=_MOST_ANSWERS, cutoff=0.6)
        prefix = f"{folder}/" if folder else ""
        found = [f"{prefix}{by_fold[key]}" for key in near]
        if not rest:
            return found
        return [path for path in (_below(folders, start, rest) for start in found) if path]


def _below(folders: FolderCache, start: str, rest: str) -> str | None:
    """``start/rest`` where it exists, else the folder ``start``; None where ``start`` is no folder."""
    try:
        folders.handle(start)
    except OSError:
        return None
    folder, _, name = f"{start}/{rest}".rpartition("/")
    try:
        os.stat(name, dir_fd=folders.handle(folder), follow_symlinks=False)
    except OSError:
        return start
    return f"{folder}/{name}"


def _visible_names(handle: int, *, at_root: bool) -> list[str]:
    fresh = os.open(".", FOLDER_FLAGS, dir_fd=handle)
    try:
        names: list[str] = []
        with os.scandir(fresh) as entries:
            for entry in entries:
                if len(names) >= _MOST_NAMES:
                    break
                if entry.name[0] != "." or (at_root and entry.name == OPEN_DOT_FOLDER):
                    names.append(entry.name)
    finally:
        os.close(fresh)
    names.sort()
    return [name for name in names if name.isascii() or _is_text(name)]


def _is_text(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _same_name_elsewhere(root: int, name: str) -> list[str]:
    """The one file of the vault that is called ``name`` (or ``name`` with .md), in any letter case."""
    wanted = {fold(name), fold(f"{name}.md")}
    found: list[str] = []
    seen = 0
    for folder in walk(root, skip_rule(())):
        found.extend(f"{folder.prefix}{entry.name}" for entry in folder.files if fold(entry.name) in wanted)
        seen += len(folder.files)
        if len(found) > 1 or seen > _MOST_FILES:
            return []
    return found
