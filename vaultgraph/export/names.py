"""Names of files, made from labels and relationship types: text of a vault is no file name.

Used by the exports that write one file a label set or type. Equal inputs give equal names.
"""

import re
from typing import Final

from vaultgraph.files.walk import fold

_UNSAFE: Final = re.compile(r"[^\w .-]+")
_MOST_BYTES: Final = 120


class FileNames:
    """Gives each name once, without regard to case."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._count = 0

    def free(self, folder: str, name: str, suffix: str) -> str:
        """A path in ``folder`` after ``name``; a name that is taken gets a number."""
        clean = _UNSAFE.sub("_", name).encode()[:_MOST_BYTES].decode("utf-8", "ignore").strip(" .") or "_"
        path = f"{folder}/{clean}{suffix}"
        while fold(path) in self._used:
            self._count += 1
            path = f"{folder}/{clean}~{self._count}{suffix}"
        self._used.add(fold(path))
        return path
