"""What an export will write, before anything is written: files by path, and what they do not carry.

The value between making an export (`vault`, `parquet`, `graphml`, `neo4j`) and putting it on disk (`owned`). Paths are
judged here: a graph file may come from anywhere and name anything.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from vaultgraph.errors import ExportError, PathEscapeError
from vaultgraph.files.root import check_listed
from vaultgraph.files.walk import PRUNED_NAMES

CONFIGURATION_FOLDER: Final = ".kglite/"
MANIFEST: Final = ".kglite/export.json"
MOST_EXAMPLES: Final = 20
MOST_PATH_CHARS: Final = 4000
_MOST_NAME_BYTES: Final = 255  # of every common file system

Content = bytes | Callable[[], Iterable[bytes]]
"""The bytes of a file, or what gives them piece by piece, the same each time."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something the source has that the export does not carry: ``kind`` in kebab-case, and which."""

    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of an export by path, and what is lost on the way."""

    form: str
    files: Mapping[str, Content]
    losses: Sequence[Loss] = field(default_factory=tuple[Loss, ...])

    def report(self) -> dict[str, Any]:
        """Losses by kind: how many, and the first of them; JSON-ready, sorted by kind."""
        found: dict[str, list[str]] = {}
        for loss in self.losses:
            found.setdefault(loss.kind, []).append(loss.what)
        return {kind: {"count": len(every), "examples": every[:MOST_EXAMPLES]} for kind, every in sorted(found.items())}


def pieces_of(content: Content) -> Iterator[bytes]:
    """The bytes of a planned file, piece by piece."""
    if isinstance(content, bytes):
        yield content
    else:
        yield from content()


def check_target(path: str) -> None:
    """Refuse a path that leads out of the export, or to what no vault contains.

    Raises:
        ExportError: absolute, `..`, a component that starts with a dot (but for ``.kglite/``), too long a name.
    """
    below = path.removeprefix(CONFIGURATION_FOLDER)
    try:
        check_listed(below)
    except PathEscapeError as reason:
        raise ExportError(
            f"{path!r}: not the path of a file of a vault; nothing was exported. Do not trust the file it comes from.",
            {"paths": [path]},
        ) from reason
    parts = below.split("/")
    if len(path) > MOST_PATH_CHARS or any(
        len(part.encode("utf-8", "surrogatepass")) > _MOST_NAME_BYTES for part in parts
    ):
        raise ExportError(
            f"{path[:80]}…: it is too long, or a name in it has more than {_MOST_NAME_BYTES} bytes: no file system"
            " takes that, and nothing was exported. Rename it in the source.",
            {"paths": [path]},
        )
    if any(part in PRUNED_NAMES for part in parts[:-1]):
        raise ExportError(f"{path!r}: lies in a folder that vaults leave out; nothing was exported.", {"paths": [path]})


def check_targets(paths: Iterable[str]) -> None:
    """``check_target`` for each, and that no file is needed as a folder too.

    Raises: ExportError.
    """
    every = set(paths)
    for path in every:
        check_target(path)
        folder = path
        while folder := folder.rpartition("/")[0]:
            if folder in every:
                raise ExportError(
                    f"{folder!r}: is a file and the folder of {path!r} at once; nothing was exported.",
                    {"paths": [folder, path]},
                )
