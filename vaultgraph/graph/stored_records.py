"""What the notes state, from a .kgl file: tables are read and checked when they are first asked for.

Part of graph/store. A start needs the notes without their bodies, and most queries no more of the records; bodies are
four fifths of a file.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.errors import CorruptKglError
from vaultgraph.graph.stored_cells import variant_fault
from vaultgraph.graph.stored_late import Late, LateReads
from vaultgraph.graph.stored_pieces import pieces_fault
from vaultgraph.kgl.arrays import is_valid, unpack_series
from vaultgraph.kgl.reader import KglFile
from vaultgraph.note.records import (
    NOTES,
    SCHEMAS,
    LinkSyntax,
    PieceKind,
    RecordTable,
    ValueKind,
    exchanged_table,
)

BODIES: Final = "records.notes.body"
EARLY: Final = ("records.notes.path", "records.notes.title")
"""Columns whose texts a start needs."""
_TOGETHER: Final = ("links", "pieces", "cells")  # positions in one lead to rows of another
# What readers of records turn into numpy arrays or compare without asking for nulls.
_NEVER_NULL: Final = {
    "notes": ("path", "hash", "size_bytes", "is_canvas", "is_skipped"),
    "properties": ("note", "key", "ordinal", "kind"),
    "links": ("note", "syntax", "is_embed", "target"),
    "tags": ("note", "tag", "is_inline"),
    "headings": ("note", "level", "text"),
    "blocks": ("note", "id"),
    "pieces": ("note", "line", "kind", "fragment", "parent", "section", "ordinal"),
    "cells": ("note", "piece", "key", "text"),
    "problems": ("note", "code", "severity", "message"),
}
_MOST_EDITED: Final = 64  # bodies that differ from the file, until all are read
_STATED: Final = tuple(kind for kind in ValueKind if kind <= ValueKind.JSON)  # by notes; queries make the others
_CODES: Final = {"properties": ("kind", _STATED), "links": ("syntax", LinkSyntax), "pieces": ("kind", PieceKind)}


class LateRecords(RecordTable):
    """Records whose tables are read when they are first asked for; ``listing`` is there from the start.

    ``has_body``: ``bool[notes]``, which notes have a body.
    """

    __slots__ = ("_bodies", "_edited", "_listing", "_reads", "_tables", "has_body")
    has_body: npt.NDArray[np.bool_]
    _bodies: Late[pl.Series]
    _edited: dict[int, str | None]  # bodies by row that are no longer what the file says
    _listing: pl.DataFrame
    _reads: LateReads
    _tables: dict[str, Callable[[], pl.DataFrame]]

    def __init__(self, file: KglFile, reads: LateReads, early: pl.Series, texts: Late[pl.Series]) -> None:
        listing = _table(file, "notes", lambda: early)
        _check_listing(file, listing)
        rows = listing.height
        is_filled = is_valid(file, BODIES, rows)
        names = (BODIES, f"{BODIES}.offsets", f"{BODIES}.valid")
        part = file.part(name for name in names if name in file)
        # In one piece, which copies no text: of a column in several pieces each gather would copy all texts.
        bodies = reads.late(lambda: unpack_series(part, BODIES, pl.String(), rows).rechunk(), by_itself=True)
        together = reads.late(partial(_linked, file, texts, rows))
        tables: dict[str, Callable[[], pl.DataFrame]] = {"notes": partial(_notes, listing, bodies, {})}
        is_plain = not file.meta["rows"]["records.pieces"] and not file.meta["rows"]["records.cells"]
        for name in SCHEMAS:
            if is_plain and name in ("pieces", "cells"):
                tables[name] = SCHEMAS[name].to_frame
            elif name in _TOGETHER:
                tables[name] = lambda name=name: together()[name]
            elif name != "notes":
                tables[name] = reads.late(partial(_stated, file, name, texts, rows))
        object.__setattr__(self, "has_body", np.ones(rows, dtype=np.bool_) if is_filled is None else is_filled)
        object.__setattr__(self, "_bodies", bodies)
        object.__setattr__(self, "_edited", {})
        object.__setattr__(self, "_listing", listing)
        object.__setattr__(self, "_reads", reads)
        object.__setattr__(self, "_tables", tables)

    def __getattr__(self, name: str) -> pl.DataFrame:
        """A table that was not asked for before; afterwards it is a field like any other.

        Raises:
            CorruptKglError: it is damaged, or the file was cut off or changed since it was opened.
        """
        if name not in SCHEMAS:
            raise AttributeError(name)
        frame = self._tables[name]()
        object.__setattr__(self, name, frame)
        return frame

    @property
    def listing(self) -> pl.DataFrame:
        """All columns of the notes but `body`."""
        return self._listing

    def bodies(self, rows: Sequence[int]) -> list[str | None]:
        """As of any records; those that were exchanged without reading others."""
        if any(row not in self._edited for row in rows):
            return super().bodies(rows)
        return [self._edited[row] for row in rows]

    def has_bodies(self, rows: Sequence[int]) -> bool:
        """As of any records, without reading them."""
        return bool(self.has_body[list(rows)].all())

    def exchanged(self, new: RecordTable, rows: Sequence[int]) -> RecordTable:
        """As of any records. Bodies that were not read yet still are not, as long as few differ from the file."""
        edited = self._edited | dict(zip(rows, new.notes["body"].to_list(), strict=True))
        if self._bodies.make is None or len(edited) > _MOST_EDITED:
            return super().exchanged(new, rows)
        fresh = new.tables()
        made: LateRecords = object.__new__(LateRecords)
        for name in SCHEMAS:
            if name != "notes":
                object.__setattr__(made, name, exchanged_table(name, getattr(self, name), fresh[name], rows))
        listing = exchanged_table("notes", self._listing, new.listing, rows)
        has_body = self.has_body.copy()
        has_body[list(rows)] = new.notes["body"].is_not_null().to_numpy()
        fields = {"_bodies": self._bodies, "_edited": edited, "_listing": listing, "_reads": self._reads}
        tables = {"notes": partial(_notes, listing, self._bodies, edited)}
        for name, value in {**fields, "_tables": tables, "has_body": has_body}.items():
            object.__setattr__(made, name, value)
        return made

    @property
    def fault(self) -> str | None:
        """What was wrong with the first part of the file that could not be read late; None while nothing is."""
        return self._reads.fault

    def settle(self) -> None:
        """Read all of the file but the bodies, what belongs to the graph included.

        Raises:
            CorruptKglError: it is damaged, or the file was cut off or changed since it was opened.
        """
        self._reads.read_all()

    def column(self, key: str) -> pl.Series:
        """A column of the notes."""
        return (self.notes if key == "body" else self._listing)[key]

    def piece_column(self, key: str) -> pl.Series:
        """A column of the pieces."""
        return self.pieces[key]


def _notes(listing: pl.DataFrame, bodies: Callable[[], pl.Series], edited: Mapping[int, str | None]) -> pl.DataFrame:
    """The notes with the bodies of the file, but for the ``edited`` ones."""
    column = bodies().alias("body")
    if edited:
        rows = np.arange(len(column))
        rows[list(edited)] = len(column) + np.arange(len(edited))
        column = pl.concat([column, pl.Series("body", list(edited.values()), dtype=pl.String)]).rechunk()[rows]
    return listing.with_columns(column).select(NOTES.names())


def late_fault(records: RecordTable) -> str | None:
    """Why ``records`` are of no use any more: their file was damaged before all was read. None while they are."""
    return records.fault if isinstance(records, LateRecords) else None


def settle(records: RecordTable) -> None:
    """Where ``records`` come from a file, read all of it but the bodies.

    Raises:
        CorruptKglError: as ``LateRecords.settle``.
    """
    if isinstance(records, LateRecords):
        records.settle()


def table_of(file: KglFile, name: str, schema: pl.Schema, texts: Callable[[], pl.Series]) -> pl.DataFrame:
    """The frame ``name``, without the bodies."""
    rows = file.meta["rows"][name]
    columns = [(key, f"{name}.{key}", dtype) for key, dtype in schema.items()]
    return pl.DataFrame(
        [unpack_series(file, at, dtype, rows, texts()).alias(key) for key, at, dtype in columns if at != BODIES]
    )


def _table(file: KglFile, name: str, texts: Callable[[], pl.Series]) -> pl.DataFrame:
    """A table of the records, without nulls and unknown codes where there are none."""
    frame = table_of(file, f"records.{name}", SCHEMAS[name], texts)
    for key in _NEVER_NULL[name]:
        if frame[key].null_count():
            raise _damaged(file, f"nulls in {name}.{key}")
    if name in _CODES:
        key, kind = _CODES[name]
        values = frame[key].to_numpy()
        if len(values) and not min(kind) <= values.min() <= values.max() <= max(kind):
            raise _damaged(file, f"unknown codes in {name}.{key}")
    return frame


def _check_listing(file: KglFile, listing: pl.DataFrame) -> None:
    paths = listing["path"]
    if not bool((paths.slice(1) > paths.head(max(len(paths) - 1, 0))).all()):
        raise _damaged(file, "the notes are not sorted by path")


def _stated(file: KglFile, name: str, texts: Callable[[], pl.Series], note_count: int) -> pl.DataFrame:
    """A table whose rows belong to notes, all that stands in it checked."""
    frame = _table(file, name, texts)
    if frame.height:
        notes = frame["note"].to_numpy()
        if int(notes[-1]) >= note_count or bool((notes[1:] < notes[:-1]).any()):
            raise _damaged(file, f"{name} names notes that are not there")
    if name == "properties" and (fault := variant_fault(frame["kind"], frame["number"], frame["text"])):
        raise _damaged(file, f"the records' properties table {fault}")
    return frame


def _linked(file: KglFile, texts: Callable[[], pl.Series], note_count: int) -> dict[str, pl.DataFrame]:
    """The tables that only make sense with each other, by name."""
    frames = {name: _stated(file, name, texts, note_count) for name in _TOGETHER}
    if fault := pieces_fault(frames["pieces"], frames["cells"], frames["links"], note_count):
        raise _damaged(file, fault)
    return frames


def _damaged(file: KglFile, what: str) -> CorruptKglError:
    return CorruptKglError(f"{file.path}: damaged ({what}).")
