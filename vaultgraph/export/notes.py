"""Notes written from their records: frontmatter from cells, the body as it is.

One path for every note the records have. Where the records do not hold what a file says (it was not UTF-8, its
frontmatter could not be parsed, it is a canvas) the original is copied, if it is at hand and unchanged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final

import polars as pl

from vaultgraph.export.frontmatter import KeyCells, front_text
from vaultgraph.export.plan import Loss
from vaultgraph.export.scalars import Cell
from vaultgraph.note.records import RecordTable, content_hash

Originals = Callable[[Sequence[str]], Mapping[str, bytes]]
"""Gives the bytes of those of some files that can be read."""

_FENCE: Final = "---"


@dataclass(frozen=True, slots=True)
class Additions:
    """What a note is given beside its own text: keys of its frontmatter, and text after its body."""

    keys: Sequence[KeyCells] = ()
    after: str = ""


@dataclass(slots=True)
class WrittenNotes:
    """Files by path, what was lost, and the frontmatter keys each note has."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    losses: list[Loss] = field(default_factory=list[Loss])
    keys: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def written_notes(
    records: RecordTable, originals: Originals, additions: Mapping[str, Additions], only: frozenset[str] | None = None
) -> WrittenNotes:
    """The files of the notes and canvases of ``records``; ``only``: of those paths, None for all."""
    done = WrittenNotes()
    faulty = _faulty(records)
    copies = _copies(records, faulty, originals, only, done)
    cells = _by_note(records.properties.select("note", "key", "line", "ordinal", "kind", "number", "real", "text"))
    tags = _by_note(records.tags.filter(~pl.col("is_inline")).select("note", "tag"))
    rows = records.notes.select("path", "title", "body", "body_line").iter_rows()
    # row loop: the notes, each once
    for note, (path, title, body, body_line) in enumerate(rows):
        if only is not None and path not in only:
            continue
        if path in copies:
            done.files[path] = copies[path]
        elif body is not None:
            title, body_line = title or "", body_line or 1  # a made-up graph file may leave both out
            stated = _stated(cells.get(note, ()), body_line, path, done.losses)
            done.keys[path] = frozenset(entry.key for entry in stated)
            spellings = {"title": (title,), "name": (title,), "tags": tuple(tag for (tag,) in tags.get(note, ()))}
            more = additions.get(path, Additions())
            front = front_text([*stated, *more.keys], body_line, spellings)
            done.files[path] = note_bytes(front, body, more.after, body_line)
    return done


def note_bytes(front: str, body: str, after: str = "", body_line: int = 0) -> bytes:
    """Frontmatter, body and what comes after it; line ends of the frontmatter are those the body starts with.

    ``body_line``: where the body started; where there is none, it tells whether the last fence ended its line.
    """
    if front and not body and not after and body_line and front.count("\n") == body_line:
        front = front[:-1]
    end = body.find("\n")
    if front and end > 0 and body[end - 1] == "\r":
        front = front.replace("\n", "\r\n")
    if after and body and not body.endswith(("\n", "\r")):
        after = f"\n{after}"
    return f"{front}{body}{after}".encode()


def stated_keys(rows: Sequence[tuple[str, int, Cell]]) -> Iterator[KeyCells]:
    """Cells in order as keys; rows are (key, line, cell), those of a key one after the other."""
    for key, group in groupby(rows, key=lambda row: row[0]):
        every = list(group)
        yield KeyCells(key, every[0][1], [cell for _, _, cell in every])


def _by_note(frame: pl.DataFrame) -> dict[int, list[tuple[Any, ...]]]:
    """Rows without their note, by note."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    # row loop: the cells or tags of all notes
    for note, *row in frame.iter_rows():
        found.setdefault(note, []).append(tuple(row))
    return found


def _stated(rows: Sequence[tuple[Any, ...]], body_line: int, path: str, losses: list[Loss]) -> list[KeyCells]:
    """The keys of a frontmatter; what stands in the body (inline fields) is stated by the body."""
    kept: list[KeyCells] = []
    seen: set[str] = set()
    inside = [(key, line or 0, tuple(cell)) for key, line, *cell in rows if (line or 0) < body_line]
    in_body = {key for key, line, *_ in rows if (line or 0) >= body_line}
    for entry in stated_keys(inside):  # pyright: ignore[reportArgumentType] -- cells come as rows of a frame
        if entry.key in seen:
            losses.append(Loss("key-twice", f"{path}: {entry.key}"))
            continue
        seen.add(entry.key)
        if entry.key in in_body and len(entry.cells) == 1:
            # one value that the body's made a list of: as a value it counts as a title, a list would not
            entry = KeyCells(entry.key, entry.line, [(-1, *entry.cells[0][1:])])
        kept.append(entry)
    return kept


def _faulty(records: RecordTable) -> frozenset[int]:
    """The notes whose frontmatter could not be parsed."""
    return frozenset(records.problems.filter(pl.col("code") == "bad-frontmatter")["note"].to_list())


def _copies(
    records: RecordTable,
    faulty: frozenset[int],
    originals: Originals,
    only: frozenset[str] | None,
    done: WrittenNotes,
) -> dict[str, bytes]:
    """The bytes of files that the records do not hold; a loss for each that cannot be had."""
    rows = records.notes.select("path", "hash", "is_canvas", pl.col("body").is_null().alias("is_bodiless")).rows()
    wanted = [
        (note, path, digest, is_canvas)
        for note, (path, digest, is_canvas, is_bodiless) in enumerate(rows)
        if (is_bodiless or note in faulty) and (only is None or path in only)
    ]
    found = originals([path for _, path, *_ in wanted])
    copies: dict[str, bytes] = {}
    for note, path, digest, is_canvas in wanted:
        data = found.get(path)
        if data is not None and (not digest or content_hash(data) == digest):
            copies[path] = data
            continue
        why = "it changed since it was read" if data is not None else "the original is not at hand"
        kind = "frontmatter-lost" if note in faulty else "canvas-lost" if is_canvas else "note-lost"
        done.losses.append(Loss(kind, f"{path}: {why}"))
    return copies
