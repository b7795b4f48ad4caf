"""From what a caller writes for a file or a folder to its path: a path, a link, a title, in any letter case.

Used by the file operations and `links`. What is spelled as on disk always wins; after it only what is unique is taken
for meant.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from vaultgraph.errors import FileError, MissingFileError, ParameterError, PathEscapeError, VaultgraphError
from vaultgraph.files.lookup import paths_called
from vaultgraph.files.root import VaultRoot, askable
from vaultgraph.files.walk import fold
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.note_names import NEAREST, is_path, notes_like, notes_named
from vaultgraph.serve.cells import one_line
from vaultgraph.serve.session import Session, StillBuilding
from vaultgraph.vault.snapshot import Snapshot

SHOWN: Final = 10  # candidates
MOST_SHOWN: Final = 200  # characters of a name in a message
Names = Callable[[], Snapshot | None]
"""Gives the snapshot that knows what notes are called; None while there is no graph."""
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.\-]*://|//|data:|www\.", re.IGNORECASE)


@frozen
class Written:
    """A file as it was written: ``name`` without brackets, and the heading or block behind its `#`."""

    name: str
    heading: str | None = None
    block: str | None = None


def written(text: str) -> Written:
    """``text`` read as a link: `[[Note#Heading|shown]]`, `![[x.png]]`, `Folder\\Note.md#Heading`."""
    bare = text.strip()
    if bare.removeprefix("!").startswith("[[") and bare.endswith("]]"):
        bare = bare.removeprefix("!")[2:-2].split("|", 1)[0].strip()
    name, _, anchor = bare.replace("\\", "/").partition("#")
    anchor = anchor.strip()
    if anchor.startswith("^"):
        return Written(name.strip(), block=anchor[1:])
    return Written(name.strip(), heading=anchor or None)


def is_address(text: str) -> bool:
    """Whether ``text`` looks like an address on the web."""
    return _ADDRESS.match(text) is not None


def short(text: str) -> str:
    """``text`` for a message: on one line, and cut where it is very long."""
    return one_line(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…")


def find_file(session: Session, text: str) -> tuple[VaultRoot, str, Written]:
    """The folder, the path of the file that ``text`` means, and how it was read.

    A folder stands for its folder note.

    Raises:
        ParameterError: ``text`` is empty, or means several files.
        MissingFileError: nothing is called so; the message names the nearest.
        FileError: it is a folder without a note of its own, or the path is refused.
    """
    root = session.folder()
    if not text.strip():
        raise ParameterError(
            "`file_path` is empty. Pass a path such as Folder/Note.md, or the title of a note; list_source and "
            "graph_overview show what there is.",
            {"name": "file_path", "reason": "empty"},
        )
    try:
        path, meant = file_called(root, lambda: _snapshot(session), text)
    except MissingFileError as missing:
        if session.mode == "files" or session.is_built() or is_address(text):
            raise
        advice = "The graph is not built yet: until it is, a note is found by its path or file name only."
        raise MissingFileError(f"{missing.message} {advice}", missing.data) from None
    return root, path, meant


def file_called(root: VaultRoot, names: Names, text: str) -> tuple[str, Written]:
    """As ``find_file``, for a ``text`` that is not empty; ``names`` is asked only where no file is spelled so."""
    try:
        return _file_at(root, text), Written(text)
    except MissingFileError as error:
        if is_address(text):
            raise MissingFileError(f"{short(text)}: is a web address; only files of the vault are read.") from None
        missing = error
    except PathEscapeError:  # no path, but maybe the title of a note, such as `C: an introduction`
        found = _titled(names, text)
        if not found:
            raise
        return _only(found, text), Written(text)
    meant = written(text)
    if not meant.name:
        raise missing
    if meant.name != text:
        try:
            return _file_at(root, meant.name), meant
        except MissingFileError:
            pass
    found = _called(names, root, meant.name)
    if not found:
        raise _with_nearest(names, missing, meant.name)
    return _only(found, text), meant


def find_note(graph: Graph, text: str) -> str:
    """The path of the node that ``text`` means: its path, or id, title or an alias of a note, or a link to one.

    Raises:
        ParameterError: ``text`` is empty, or means several notes.
        MissingFileError: nothing in the graph is called so; the message names the nearest.
    """
    name = text if is_path(graph, text) else written(text).name
    if not name:
        raise ParameterError(
            "`note` is empty. Pass the path, id, title or an alias of a note.", {"name": "note", "reason": "empty"}
        )
    if is_path(graph, name):
        return name
    if found := notes_named(graph, text) or notes_named(graph, name) or _ending_so(graph, name):
        return _only(found, text, "note")
    nearest = notes_like(graph, name)
    advice = (
        f"Did you mean {' or '.join(map(one_line, nearest))}?"
        if nearest
        else "Pass the path, id, title or an alias of one."
    )
    raise MissingFileError(f"{short(text)}: no note of the graph is called so. {advice}", {"nearest": nearest})


def _ending_so(graph: Graph, name: str) -> list[str]:
    """The notes whose path ends with ``name``, with or without `.md`: a file name, or a part of a path."""
    folded = fold(name.strip("/")).removesuffix(".md")
    named = notes_named(graph, folded.rsplit("/", 1)[-1])
    return [path for path in named if f"/{fold(path)}".endswith(f"/{folded}.md")]


def find_folder(root: VaultRoot, text: str) -> str:
    """The path of the folder that ``text`` means; ``text`` itself where it names something, or nothing is like it.

    Raises:
        ParameterError: several folders are called so.
        MissingFileError: it is a web address.
        PathEscapeError: the path is refused.
    """
    try:
        return askable(root.stat(text).path)
    except MissingFileError:
        if is_address(text):
            raise MissingFileError(f"{short(text)}: is a web address; only folders of the vault are listed.") from None
        name = written(text).name
        found = paths_called(root, name, folders=True) or paths_called(root, name)
        kind = "folders" if all(root.is_folder(askable(path)) for path in found) else "files"
        return _only(found, text, "path", kind) if found else text


def _file_at(root: VaultRoot, path: str) -> str:
    """The file at ``path``, of a folder its folder note (beside it, else in it), else the folder itself."""
    status = root.stat(path)
    if not status.is_folder or not status.path:
        return askable(status.path)
    name = status.path.rsplit("/", 1)[-1]
    for note in (f"{status.path}.md", f"{status.path}/{name}.md"):
        try:
            with root.find(askable(note), with_nearest=False) as found:
                if not found.is_folder:
                    return askable(found.path)
        except FileError:
            continue
    return askable(status.path)


def _called(names: Names, root: VaultRoot, name: str) -> list[str]:
    """Files whose path is ``name`` in another letter case, else notes called so, else files and folders that end so."""
    files = paths_called(root, name)
    folded = fold(name.strip("/"))
    if any(fold(path) in (folded, f"{folded}.md") for path in files):
        return files
    if found := _titled(names, name):
        return found
    return files or [_file_at(root, askable(path)) for path in paths_called(root, name, folders=True)]


def _titled(names: Names, name: str) -> list[str]:
    snapshot = names()
    return notes_named(snapshot.graph, name) if snapshot else []


def _snapshot(session: Session) -> Snapshot | None:
    try:
        return session.vault().current()
    except (StillBuilding, VaultgraphError):
        return None  # without a graph there are no names


def _only(found: Sequence[str], text: str, argument: str = "file_path", kind: str = "notes") -> str:
    if len(found) == 1:
        return askable(found[0])
    listed = "\n".join(f"  {one_line(path)}" for path in found[:SHOWN])
    more = f"\n  … {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise ParameterError(
        f"{len(found)} {kind} are called `{short(text)}`; ask for one by its path:\n{listed}{more}",
        {"name": argument, "reason": "ambiguous", "candidates": list(found[:SHOWN])},
    )


def _with_nearest(names: Names, missing: MissingFileError, name: str) -> MissingFileError:
    """The error with the paths of the notes whose names are like ``name`` too."""
    snapshot = names()
    like = notes_like(snapshot.graph, name) if snapshot else []
    nearest = list(dict.fromkeys([*missing.data["nearest"], *like]))[:NEAREST]
    if not nearest:
        return missing
    return MissingFileError(
        f"{short(name)}: not in the vault. Did you mean {' or '.join(map(one_line, nearest))}?", {"nearest": nearest}
    )
