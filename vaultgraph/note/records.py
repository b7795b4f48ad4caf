"""What notes state, as columns: the RecordTable.

The one value between reading and building: a pure function of (path, bytes) rows and of what the profile says about
reading. Nothing is resolved against other notes. Rows of a path can be dropped or replaced without touching those of
others, which is what a refresh does. One schema a table, below; ``note`` is the row of the note in ``notes``, and every
table is sorted by it.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import fields
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.frozen import frozen


class ValueKind(IntEnum):
    """The type of one property cell; codes are part of the ``.kgl`` format."""

    TEXT = 1
    INTEGER = 2
    FLOAT = 3
    BOOLEAN = 4
    DATE = 5
    LOCAL_DATETIME = 6
    UTC_DATETIME = 7
    EMPTY_LIST = 8
    JSON = 9
    # No note states the following: they are what queries give to properties. `text` is the ISO form.
    TIME = 10
    LOCAL_TIME = 11
    ZONED_DATETIME = 12  # with an offset or a zone, nanoseconds
    LOCAL_DATETIME_NS = 13
    DURATION = 14
    LIST = 15  # of such values: a JSON array of [kind, text], plain values as JSON
    FAR_DATE = 16  # outside the years 1 … 9999


class LinkSyntax(IntEnum):
    """How a link is written; codes are part of the ``.kgl`` format."""

    WIKILINK = 1  # [[T]] and ![[T]] in a body
    MARKDOWN = 2  # [t](p), ![t](p), [t][ref]
    URL = 3  # any link to http(s): <https://…>, bare, [t](https://…), ![t](https://…)
    FRONTMATTER = 4  # a wikilink inside a property; `property` names the key
    CANVAS = 5  # a card of a canvas that names a file
    TABLE = 6  # a row of a table that a `structure.tables` rule reads as relationships


class PieceKind(IntEnum):
    """What a part of a body is that `structure:` or `tasks:` makes a node of; codes are part of the ``.kgl`` format."""

    SECTION = 1
    CHUNK = 2
    CALLOUT = 3
    FENCE = 4
    LIST = 5  # an ordered list as a whole
    STEP = 6  # an item of it
    ROW = 7  # a row of a table that becomes a node
    TASK = 8
    EDGE = 9  # a row of a table that becomes a relationship: no node


NOTES: Final = pl.Schema(
    {
        "path": pl.String,  # vault-relative, POSIX, as the disk spells it; unique, sorted by code point
        "hash": pl.Binary,  # BLAKE2b-128 of the file's bytes
        "size_bytes": pl.Int64,
        "is_canvas": pl.Boolean,  # a JSON Canvas file, not a note
        "is_skipped": pl.Boolean,  # kg_skip: true; known, but not in the graph
        "title": pl.String,  # title: → name: → first heading → stem
        "body": pl.String,  # verbatim, without frontmatter and BOM; null where the file is not UTF-8; canvas: null
        "body_line": pl.Int32,  # 1-based line of the file on which the body starts
    }
)
PROPERTIES: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "key": pl.String,  # as written; nested maps flattened with dots
        "ordinal": pl.Int32,  # -1: a scalar cell; 0…: an item of a list
        "kind": pl.UInt8,  # ValueKind
        "number": pl.Int64,  # INTEGER value, BOOLEAN 0/1, DATE days and *_DATETIME microseconds since 1970
        "real": pl.Float64,  # FLOAT value
        "text": pl.String,  # TEXT value; JSON: a map or list inside a list, as JSON text
        "line": pl.Int32,  # 1-based line of the file: of the key, or of the inline field
    }
)
LINKS: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "line": pl.Int32,  # 1-based line of the file
        "syntax": pl.UInt8,  # LinkSyntax
        "is_embed": pl.Boolean,  # written with a leading !
        "target": pl.String,  # percent-decoded for Markdown links, without anchor; "" is a link to the note itself
        "anchor": pl.String,  # after the first #, decoded; null where absent
        "display": pl.String,  # shown text or image alt text, without a size; null where absent
        "width": pl.Int32,
        "height": pl.Int32,
        "section": pl.String,  # text of the nearest heading above, of any level; null before the first
        "type": pl.String,  # an explicit UPPER_SNAKE link title; null otherwise
        "property": pl.String,  # FRONTMATTER: the key; WIKILINK in the value of an inline field: the key of that
    }
)
TAGS: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "line": pl.Int32,
        "tag": pl.String,  # without #, as written
        "is_inline": pl.Boolean,  # in the body; false: in frontmatter `tags:`
    }
)
HEADINGS: Final = pl.Schema({"note": pl.UInt32, "line": pl.Int32, "level": pl.UInt8, "text": pl.String})
BLOCKS: Final = pl.Schema({"note": pl.UInt32, "line": pl.Int32, "id": pl.String})  # id without ^
PIECES: Final = pl.Schema(
    {
        "note": pl.UInt32,  # the pieces of a note are in order of line, what holds others before them
        "line": pl.Int32,  # 1-based line of the file on which it starts
        "kind": pl.UInt8,  # PieceKind
        "fragment": pl.String,  # its id after the note's id: "#A#B", "#^b1", "#A~chunk2"; unique in the note; EDGE: ""
        "parent": pl.Int32,  # position among the note's pieces, from 0, of the one it hangs on; -1: the note
        "section": pl.Int32,  # position of the SECTION it lies in, for a SECTION of the one it is below; -1: none
        "ordinal": pl.Int32,  # its place, from 0, among the pieces of its kind that hang on the same parent
        "level": pl.Int32,  # SECTION: 1…6; STEP: nesting from 0; else null
        "title": pl.String,  # SECTION: heading; CALLOUT: title; FENCE: caption; else null
        "text": pl.String,  # SECTION, CHUNK, CALLOUT, STEP, TASK: text; FENCE: code; EDGE: the target as written
        "word": pl.String,  # CALLOUT: kind; FENCE: language; TASK: the mark; else null
        "fold": pl.String,  # CALLOUT: "+" or "-"; else null
        "block": pl.String,  # its block id, without ^; null where it has none
        "hash": pl.String,  # CHUNK: SHA-256 of the text, hex; else null
        "size": pl.Int32,  # LIST: how many steps are directly in it; ROW, EDGE: the row's number from 1; else null
        "rule": pl.Int32,  # ROW, EDGE: position of the rule in `structure.tables`; else null
    }
)
CELLS: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "piece": pl.Int32,  # position of the ROW or EDGE among the note's pieces
        "key": pl.String,  # the column's heading
        "text": pl.String,  # the cell, escapes of bars undone; empty cells have no row
        "line": pl.Int32,
    }
)
PROBLEMS: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "line": pl.Int32,  # null where the whole file is meant
        "code": pl.String,  # kebab-case, listed in VAULT.md
        "severity": pl.String,  # error, warning, info
        "message": pl.String,
    }
)

SCHEMAS: Final[dict[str, pl.Schema]] = {
    "notes": NOTES,
    "properties": PROPERTIES,
    "links": LINKS,
    "tags": TAGS,
    "headings": HEADINGS,
    "blocks": BLOCKS,
    "pieces": PIECES,
    "cells": CELLS,
    "problems": PROBLEMS,
}


_FEW: Final = 32  # notes that are replaced one by one, without a new copy of all rows
_MOST_CHUNKS: Final = 32  # pieces of memory a column may lie in before it is copied into one


@frozen
class RecordTable:
    """Nine frames, each with the schema of the same name; ``note`` columns index ``notes``, all sorted by it.

    The TABLE links of a note are in the order of its EDGE pieces: the n-th is the relationship of the n-th.
    """

    notes: pl.DataFrame
    properties: pl.DataFrame
    links: pl.DataFrame
    tags: pl.DataFrame
    headings: pl.DataFrame
    blocks: pl.DataFrame
    pieces: pl.DataFrame
    cells: pl.DataFrame
    problems: pl.DataFrame

    @property
    def listing(self) -> pl.DataFrame:
        """``notes`` without `body`: records from a cache file then need not read the bodies."""
        return pl.DataFrame([column for column in self.notes.iter_columns() if column.name != "body"])

    def bodies(self, rows: Sequence[int]) -> list[str | None]:
        """The bodies of a few notes."""
        return self.notes["body"][list(rows)].to_list()

    def has_bodies(self, rows: Sequence[int]) -> bool:
        """Whether each of a few notes has one."""
        return None not in self.bodies(rows)

    def exchanged(self, new: "RecordTable", rows: Sequence[int]) -> "RecordTable":
        """The records with the notes at ``rows``, ascending, as ``new`` has them; both have the same paths there."""
        fresh = new.tables()
        return RecordTable(
            **{name: exchanged_table(name, frame, fresh[name], rows) for name, frame in self.tables().items()}
        )

    def tables(self) -> dict[str, pl.DataFrame]:
        """The frames by name, in the order of ``SCHEMAS``."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def content_hash(data: bytes) -> bytes:
    """BLAKE2b-128 of a file's bytes: the identity of its content, as in ``notes.hash``."""
    return hashlib.blake2b(data, digest_size=16).digest()


def empty_records() -> RecordTable:
    """A RecordTable of no notes."""
    return RecordTable(**{name: schema.to_frame() for name, schema in SCHEMAS.items()})


def without_paths(records: RecordTable, paths: Sequence[str]) -> RecordTable:
    """The records without the notes at ``paths`` (unknown ones are ignored); order is kept."""
    keep = ~records.notes["path"].is_in(list(paths))
    return _gather_notes(records, keep.to_numpy())


def rows_of_notes(frame: pl.DataFrame, notes: Sequence[int]) -> pl.DataFrame:
    """The rows of a few notes, ascending, in a table sorted by ``note``."""
    spans = [_span(frame, note) for note in notes]
    parts = [frame[first:stop] for first, stop in spans if first < stop]
    return (pl.concat(parts) if len(parts) > 1 else parts[0]) if parts else frame.clear()


def _span(frame: pl.DataFrame, note: int) -> tuple[int, int]:
    """The first row of a note in a table sorted by ``note``, and the one after its last."""
    notes = frame["note"]
    if notes.n_chunks() > 1:  # as one array it would be copied
        first, stop = bisect_left(notes, note), bisect_right(notes, note)
    else:
        first, stop = np.searchsorted(notes.to_numpy(), np.array([note, note + 1], dtype=np.uint32)).tolist()
    return first, stop


def merge_records(old: RecordTable, new: RecordTable) -> RecordTable:
    """``old`` with the notes of ``new`` added; a path in both takes the rows of ``new``. Sorted by path."""
    if 0 < new.notes.height <= _FEW:
        paths = old.listing["path"]
        rows = [bisect_left(paths, path) for path in new.notes["path"].to_list()]
        inside = [row for row in rows if row < len(paths)]
        if len(inside) == len(rows) and paths[inside].equals(new.notes["path"]):
            return old.exchanged(new, rows)
    kept = without_paths(old, new.notes["path"].to_list())
    shift = kept.notes.height
    stacked = {name: pl.concat([frame, _shifted(new.tables()[name], shift)]) for name, frame in kept.tables().items()}
    order = stacked["notes"]["path"].arg_sort().to_numpy()
    position = np.empty(len(order), dtype=np.uint32)
    position[order] = np.arange(len(order), dtype=np.uint32)
    return RecordTable(
        notes=stacked["notes"][order],
        **{
            name: frame.with_columns(note=pl.Series(position[frame["note"].to_numpy()])).sort(
                "note", maintain_order=True
            )
            for name, frame in stacked.items()
            if name != "notes"
        },
    )


def exchanged_table(name: str, frame: pl.DataFrame, fresh: pl.DataFrame, rows: Sequence[int]) -> pl.DataFrame:
    """The table ``name`` with the rows of the notes at ``rows``, ascending, as in ``fresh``, where they are the notes
    0, 1, 2…; what lies between is neither moved nor copied."""
    if fresh.columns != frame.columns:
        fresh = fresh.select(frame.columns)
    if name == "notes":
        spans = [(row, row + 1) for row in rows]
        own = [fresh[number : number + 1] for number in range(len(rows))]
    else:
        spans = [_span(frame, row) for row in rows]
        notes = pl.Series("note", rows, dtype=pl.UInt32)[fresh["note"]] if fresh.height else fresh["note"]
        fresh = pl.DataFrame([notes if column.name == "note" else column for column in fresh.iter_columns()])
        own = [fresh] if len(rows) == 1 else [rows_of_notes(fresh, [row]) for row in rows]
    return _exchanged(frame, spans, own)


def _exchanged(frame: pl.DataFrame, spans: list[tuple[int, int]], own: list[pl.DataFrame]) -> pl.DataFrame:
    """``frame`` with other rows in place of those in ``spans``; itself where they are the same."""
    parts: list[pl.DataFrame] = []
    done = 0
    # row loop: the notes that are replaced, a few
    for (first, stop), rows in zip(spans, own, strict=True):
        if stop - first != rows.height or (rows.height and not frame[first:stop].equals(rows)):
            parts += [frame[done:first], rows]
            done = stop
    if not parts:
        return frame
    parts = [part for part in (*parts, frame[done:]) if part.height]
    return pl.concat(parts, rechunk=frame.n_chunks() > _MOST_CHUNKS) if parts else frame.clear()


def concat_records(parts: Sequence[RecordTable]) -> RecordTable:
    """The notes of all ``parts``, which must follow each other in path order and share no path."""
    if not parts:
        return empty_records()
    if len(parts) == 1:
        return RecordTable(**{name: frame.rechunk() for name, frame in parts[0].tables().items()})
    shifts: list[int] = np.cumsum([0, *(part.notes.height for part in parts)]).tolist()
    tables = [part.tables() for part in parts]
    return RecordTable(**{name: _stacked([part[name] for part in tables], shifts) for name in SCHEMAS})


def _stacked(frames: list[pl.DataFrame], shifts: list[int]) -> pl.DataFrame:
    """The rows of all ``frames``, `note` raised by the shift of each. Column by column: frames as a whole are left to
    threads, which takes longer."""
    columns: list[pl.Series] = []
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames]
        if name == "note":
            parts = [(part + shift).cast(pl.UInt32) for part, shift in zip(parts, shifts, strict=False)]
        columns.append(pl.concat(parts, rechunk=True))  # gathering out of several pieces copies texts
    return pl.DataFrame(columns)


def _shifted(frame: pl.DataFrame, shift: int) -> pl.DataFrame:
    return frame.with_columns((pl.col("note") + shift).cast(pl.UInt32)) if "note" in frame.columns else frame


def _gather_notes(records: RecordTable, keep: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> RecordTable:
    position = (np.cumsum(keep) - 1).astype(np.uint32)
    kept = {"notes": records.notes.filter(pl.Series(keep))}
    for name, frame in records.tables().items():
        if name != "notes":
            rows = frame["note"].to_numpy()
            chosen = keep[rows]
            kept[name] = frame.filter(pl.Series(chosen)).with_columns(note=pl.Series(position[rows[chosen]]))
    return RecordTable(**kept)
