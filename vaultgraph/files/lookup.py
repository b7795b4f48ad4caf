"""Which files or folders a caller may name without spelling their paths out: in another letter case, or by the end.

For paths that files/root did not find. Looks at names only; what notes are called inside is not known here.
"""

from typing import Final

from vaultgraph.files.root import VaultRoot, check_path
from vaultgraph.files.walk import fold, skip_rule, walk

_MOST_FILES: Final = 200_000  # of the vault looked at


def paths_called(root: VaultRoot, name: str, *, folders: bool = False) -> list[str]:
    """The files (or folders) whose path is ``name`` in any letter case, else those whose path ends in ``/name``.

    The suffix `.md` may be missing. Sorted; empty where there is none, or where the vault cannot be listed.

    Raises:
        PathEscapeError: ``name`` can be no path of a vault.
    """
    wanted = fold(check_path(name))
    if not wanted:
        return []
    names = (wanted,) if folders else (wanted, f"{wanted}.md")
    ends = tuple(f"/{one}" for one in names)
    whole: list[str] = []
    ending: list[str] = []
    seen = 0
    try:
        for folder in walk(root.handle, skip_rule(())):
            paths = [folder.prefix[:-1]] if folders else [f"{folder.prefix}{entry.name}" for entry in folder.files]
            for path in paths:
                folded = fold(path)
                if folded in names:
                    whole.append(path)
                elif folded.endswith(ends):
                    ending.append(path)
            seen += len(paths)
            if seen > _MOST_FILES:
                break
    except OSError:
        return []
    return sorted(whole or ending)
