"""Columns of a graph that only repeat what the records state: texts of notes and of their parts lie in a file once.

A part of storing, between store.py and stored_columns.py. It finds the row of the records each node was made from, and
compares; a column that differs in one cell is stored as any other.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.columns import Ids, Segment, gather
from vaultgraph.graph.graph import Graph
from vaultgraph.note.records import PieceKind, RecordTable

NO_ROW: Final = 2**32 - 1
OF_NOTES: Final = {"path": "path", "file_path": "path", "title": "title", "body": "body", "size_bytes": "size_bytes"}
"""Node properties that repeat a column of the records' notes, as far as they do."""
OF_PIECES: Final = {"text": "text", "code": "text", "chunk_hash": "hash"}
"""Node properties that repeat a column of the records' pieces, as far as they do."""
_SLICE: Final = 512  # rows compared at once

Rows = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A table of the records and the nodes made of its rows.

    ``column`` gives a column of the table. ``rows``: ``uint32[node_count]``, the row of each node, NO_ROW for none.
    ``keys``: column of the table by property.
    """

    column: Callable[[str], pl.Series]
    rows: Rows
    keys: Mapping[str, str]
    _before: Ids = field(init=False)  # how many nodes before each one have a row
    _gathered: dict[str, pl.Series] = field(default_factory=dict[str, pl.Series])

    def __post_init__(self) -> None:
        object.__setattr__(self, "_before", np.append(0, np.cumsum(self.rows != NO_ROW)))

    def states(self, key: str, segment: Segment) -> bool:
        """Whether every cell of ``segment`` of the property ``key`` is that of its node's row."""
        source = self.column(self.keys[key]) if key in self.keys else None
        if source is None or source.dtype != segment.series.dtype:
            return False
        rows = self.rows[segment.first : segment.stop]
        if len(rows) != len(segment.series) or bool((rows == NO_ROW).any()):
            return False
        # A slice at a time: comparing all bodies at once would lay them side by side in memory.
        return all(
            bool(segment.series.slice(at, _SLICE).eq_missing(source.gather(rows[at : at + _SLICE])).all())
            for at in range(0, len(rows), _SLICE)
        )

    def has_all(self, first: int, stop: int) -> bool:
        """Whether all nodes ``first`` … ``stop - 1`` have a row."""
        return int(self._before[stop] - self._before[first]) == stop - first

    def cells(self, key: str, first: int, stop: int) -> pl.Series | None:
        """The cells of the property ``key`` of the nodes ``first`` … ``stop - 1``; None where the table has them not.

        The rows must be rows of the table. A column is gathered once for all nodes; each answer is a slice of it.
        """
        if key not in self.keys or not self.has_all(first, stop):
            return None
        start = int(self._before[first])
        source = self.keys[key]
        if source not in self._gathered:
            self._gathered[source] = _gather(self.column(source), self.rows[self.rows != NO_ROW])
        return self._gathered[source].slice(start, stop - first)


def repeated_notes(graph: Graph, records: RecordTable) -> Repeated:
    """The notes of the records with the nodes that have their paths."""
    rows = np.full(graph.node_count, NO_ROW, dtype="<u4")
    known = records.listing.select("path").with_row_index("row")
    column = graph.node_columns.get("path")
    for segment in column.segments if column else ():  # row loop: one step a segment
        if segment.series.dtype == pl.String():
            asked = segment.series.rename("path").to_frame()
            found = asked.join(known, on="path", how="left", maintain_order="left")["row"]
            rows[segment.first : segment.stop] = found.fill_null(NO_ROW).to_numpy()
    return Repeated(records.notes.get_column, rows, OF_NOTES)


def repeated_pieces(graph: Graph, records: RecordTable, notes: Repeated) -> Repeated:
    """The pieces of the records with the nodes that have their ids; ``notes``: as ``repeated_notes`` gives them."""
    rows = np.full(graph.node_count, NO_ROW, dtype="<u4")
    at = np.flatnonzero(notes.rows != NO_ROW)
    owners = pl.DataFrame({"note_id": _texts(graph, "id", at), "note": notes.rows[at]})
    owners = owners.drop_nulls().unique("note_id", keep="first", maintain_order=True)
    pieces = records.pieces.select("note", "fragment", "kind").with_row_index("row")
    pieces = pieces.filter(pl.col("kind") != PieceKind.EDGE).unique(["note", "fragment"], keep="first")
    column = graph.node_columns.get("note_id")
    for segment in column.segments if column else ():  # row loop: one step a segment
        nodes = np.arange(segment.first, segment.stop, dtype=np.int64)
        asked = pl.DataFrame({"note_id": _texts(graph, "note_id", nodes), "id": _texts(graph, "id", nodes)})
        asked = asked.with_columns(fragment=pl.col("id").str.strip_prefix(pl.col("note_id")))
        asked = asked.join(owners, on="note_id", how="left", maintain_order="left")
        found = asked.join(pieces, on=["note", "fragment"], how="left", maintain_order="left")["row"]
        rows[segment.first : segment.stop] = found.fill_null(NO_ROW).to_numpy()
    return Repeated(records.pieces.get_column, rows, OF_PIECES)


def _texts(graph: Graph, key: str, nodes: Ids) -> pl.Series:
    """The texts of a property, null for other values."""
    values = pl.repeat(None, len(nodes), dtype=pl.String, eager=True)
    for part in gather(graph.node_columns.get(key), nodes):
        if part.series.dtype == pl.String():
            values = part.series if part.rows is None else values.scatter(part.rows, part.series)
    return values


def _gather(series: pl.Series, rows: Rows) -> pl.Series:
    """``series`` at ``rows``: the very same memory where they are all of it in order."""
    if len(rows) == len(series) and bool((rows == np.arange(len(rows), dtype=np.uint32)).all()):
        return series
    return series.gather(rows)
