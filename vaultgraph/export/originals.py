"""The files a vault was read from, where they are at hand: what the graph does not hold is copied from them.

Attachments, canvases, skills and recipes, notes that could not be read as text. Reading goes through files/root.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from vaultgraph.errors import ExportError, FileError
from vaultgraph.export.columns import segment_values
from vaultgraph.export.plan import CONFIGURATION_FOLDER, MOST_PATH_CHARS, Content, Loss
from vaultgraph.files.root import FILE_FLAGS, VaultRoot, askable, is_placeholder
from vaultgraph.files.stamps import ALIASES, STAMPS, Stamps, is_note, problem_frame, read_files, scan
from vaultgraph.files.walk import fold
from vaultgraph.graph.graph import Graph
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile

GUIDANCE: Final = ("skills", "recipes")
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Originals:
    """``root`` None: nothing is at hand. ``stamps``: the files there are, or that the graph says there are."""

    root: VaultRoot | None
    stamps: Stamps

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """The bytes of those of ``paths`` that can be read."""
        if self.root is None:
            return {}
        there = set(self.stamps.files["path"].to_list())
        asked = [path for path in paths if path in there]
        contents, _ = read_files(self.root, asked, [0] * len(asked))
        return {path: data for path, data in zip(asked, contents, strict=True) if data is not None}


def originals_of(root: VaultRoot | None, records: RecordTable, graph: Graph, profile: Profile) -> Originals:
    """What there is to copy from.

    Raises: BuildError: the folder of ``root`` cannot be read.
    """
    if root is not None:
        return Originals(root, scan(root, profile.skip_dirs))
    notes = records.notes.select("path", "size_bytes")
    named = pl.DataFrame({"path": _files_named(graph)}, schema={"path": pl.String}).with_columns(
        size_bytes=pl.lit(0, pl.Int64)
    )
    return Originals(None, stamps_of(pl.concat([notes, named]).unique("path", keep="first").iter_rows()))


def stamps_of(files: Iterable[tuple[str, int]]) -> Stamps:
    """Stamps for paths and sizes that no stat pass has seen."""
    rows = sorted(files)
    folders: set[str] = set()
    for path, _ in rows:
        folder = path
        while (folder := folder.rpartition("/")[0]) and folder not in folders:
            folders.add(folder)
    return Stamps(
        files=pl.DataFrame([(path, size, 0, 0, 0) for path, size in rows], schema=STAMPS, orient="row"),
        folders=sorted(folders),
        aliases=ALIASES.to_frame(),
        problems=problem_frame([]),
    )


def copied_files(originals: Originals, graph: Graph, losses: list[Loss]) -> dict[str, Content]:
    """The files beside notes and canvases that the graph names, those of the same name (which one a link means depends
    on them all), and the vault's guidance; a loss for each that is not at hand."""
    named = _files_named(graph)
    if originals.root is None:
        losses += [Loss("file-not-copied", f"{path}: the source folder is not at hand") for path in named]
        return {}
    present = originals.stamps.files["path"].to_list()
    names = {fold(path.rpartition("/")[2]) for path in named}
    chosen = [path for path in present if not is_note(path) and fold(path.rpartition("/")[2]) in names]
    gone = set(named) - set(chosen)
    losses += [Loss("file-not-copied", f"{path}: it is not in the source folder") for path in sorted(gone)]
    files: dict[str, Content] = {}
    for path in [*chosen, *_guidance(originals.root)]:
        try:
            _check(originals.root, path)
        except FileError as reason:
            losses.append(Loss("file-not-copied", reason.message))
        else:
            files[path] = _reader(originals.root, path)
    return files


def _files_named(graph: Graph) -> list[str]:
    """Paths of the files that are nodes and no notes."""
    ids = range(graph.node_count)
    paths = segment_values(graph.node_columns.get("path"), ids)
    missing = segment_values(graph.node_columns.get("missing"), ids)
    found: set[str] = set()
    # row loop: node groups, and the paths of those that hold files
    for group in graph.groups:
        if not {"Folder"} & set(group.labels):
            span = range(group.first, group.stop)
            texts = ((node, paths[node]) for node in span if isinstance(paths[node], str))
            found.update(
                path
                for node, path in texts
                if missing[node] is not True and not is_note(path) and len(path) <= MOST_PATH_CHARS
            )
    return sorted(found)


def _guidance(root: VaultRoot) -> Iterator[str]:
    """The paths of the skills and recipes of a vault."""
    for kind in GUIDANCE:
        folder = f"{CONFIGURATION_FOLDER}{kind}"
        try:
            with root.find(folder, with_nearest=False) as found:
                if found.is_folder:
                    with os.scandir(found.folder) as entries:
                        names = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
                    yield from (f"{folder}/{name}" for name in names if name[0] != "." and is_note(name))
        except (FileError, OSError):
            continue


def _check(root: VaultRoot, path: str) -> None:
    """Raises: FileError: the file cannot be copied."""
    with root.find(askable(path), with_nearest=False) as found:
        if not stat.S_ISREG(found.status.st_mode):
            raise FileError(f"{path}: is no regular file.")
        if is_placeholder(found.status, root.counts_blocks):
            raise FileError(f"{path}: its content is in the cloud only.")


def _reader(root: VaultRoot, path: str) -> Callable[[], Iterator[bytes]]:
    def pieces() -> Iterator[bytes]:
        try:
            with root.find(askable(path), with_nearest=False) as found:
                handle = os.open(found.name, FILE_FLAGS, dir_fd=found.folder)
                try:
                    while piece := os.read(handle, _PIECE_BYTES):
                        yield piece
                finally:
                    os.close(handle)
        except (FileError, OSError) as reason:
            raise ExportError(f"{path}: cannot be read any more ({reason}). Export again.") from reason

    return pieces
