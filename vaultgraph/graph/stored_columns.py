"""Property columns in a .kgl file: segments of one dtype lie in one pool, texts of notes in the records.

Half of graph/store. A graph may have thousands of small segments; one pool a dtype keeps the number of sections, and
with it the time to open a file, small. A segment that only repeats what the records state (path, title, body; text of
a part of a note) is stored as a reference to them, which repeated_columns.py finds.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final

import polars as pl

from vaultgraph.errors import CorruptKglError
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.repeated_columns import NO_ROW, OF_NOTES, OF_PIECES, Repeated, repeated_notes, repeated_pieces
from vaultgraph.graph.stored_bodies import LateRecords, NodeBodies
from vaultgraph.graph.stored_times import stored_times_fault
from vaultgraph.kgl.arrays import pack_series, unpack_numbers, unpack_series
from vaultgraph.kgl.reader import KglFile
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Piece
from vaultgraph.note.records import RecordTable, ValueKind

_EPOCH: Final = date(1970, 1, 1).toordinal()
_NOTES: Final = ""  # the pool that is the records' notes
_PIECES: Final = "pieces"  # the pool that is their pieces
_SECTIONS: Final = {_NOTES: "nodes.note", _PIECES: "nodes.piece"}

_SCALARS: Final[dict[str, pl.DataType]] = {
    "boolean": pl.Boolean(),
    "integer": pl.Int64(),
    "float": pl.Float64(),
    "text": pl.String(),
    "date": pl.Date(),
    "local_datetime": pl.Datetime("us"),
    "utc_datetime": pl.Datetime("us", "UTC"),
    "variant": VARIANT,
}
_DTYPES: Final = _SCALARS | {f"list_{name}": pl.List(dtype) for name, dtype in _SCALARS.items()}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}


_DAYS: Final = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
_MICROSECONDS: Final = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)
_TIMES: Final = {
    ValueKind.DATE: _DAYS,
    ValueKind.LOCAL_DATETIME: _MICROSECONDS,
    ValueKind.UTC_DATETIME: _MICROSECONDS,
}
_TIME_DTYPES: Final = {
    ValueKind.DATE: pl.Date(),
    ValueKind.LOCAL_DATETIME: pl.Datetime("us"),
    ValueKind.UTC_DATETIME: pl.Datetime("us", "UTC"),
}


class ColumnWriter:
    """Collects the columns of a graph; then gives their sections and their part of ``meta``."""

    def __init__(self, graph: Graph, records: RecordTable) -> None:
        notes = repeated_notes(graph, records)
        self._repeated = {_NOTES: notes}
        if records.pieces.height:
            self._repeated[_PIECES] = repeated_pieces(graph, records, notes)
        self._pools: dict[str, list[pl.Series]] = {}
        self._rows: dict[str, int] = {}
        self._columns: list[Any] = []

    def add(self, owner: int, key: str, column: Column) -> None:
        """Add the column ``key`` of the nodes (owner -1) or of the relationship table number ``owner``.

        Raises:
            TypeError: a segment has a dtype that graph/columns does not allow.
        """
        segments: list[list[Any]] = []
        for segment in column.segments:
            rows = len(segment.series)
            stated = [name for name, found in self._repeated.items() if owner < 0 and found.states(key, segment)]
            if stated:
                segments.append([segment.first, rows, stated[0], 0])
                continue
            pool = _NAMES.get(segment.series.dtype)
            if pool is None:
                raise TypeError(f"property {key!r} has the dtype {segment.series.dtype}, which no graph may hold")
            start = self._rows.get(pool, 0)
            self._pools.setdefault(pool, []).append(segment.series)
            self._rows[pool] = start + rows
            segments.append([segment.first, rows, pool, start])
        self._columns.append([owner, key, segments])

    def meta(self) -> dict[str, Any]:
        """JSON-ready: ``pools`` rows by dtype, ``columns`` [owner, key, [[first, rows, pool, start]…]].

        The pool "" is the records' notes, "pieces" their pieces; start then has no meaning.
        """
        return {"pools": self._rows, "columns": self._columns}

    def pools(self) -> dict[str, pl.Series]:
        """The values of all segments that repeat nothing, a series a dtype, by the name they are stored under."""
        return {
            f"pool.{pool}": pl.concat([series.alias(pool) for series in self._pools[pool]])
            for pool in sorted(self._pools)
        }

    def sections(self, texts: SharedTexts) -> Iterator[tuple[str, Piece]]:
        """The sections of all pools, and the row of each node in the notes and in the pieces (none: 2^32 - 1)."""
        for name, found in self._repeated.items():
            yield _SECTIONS[name], found.rows
        for name, joined in self.pools().items():
            yield from pack_series(name, joined, texts)


class ColumnReader:
    """The columns of a graph from a file.

    ``counts``: relationships of each table, in order.

    Raises (in all methods):
        CorruptKglError: segments overlap, leave their owner or their pool, or a pool is damaged.
    """

    def __init__(
        self, file: KglFile, records: LateRecords, texts: pl.Series, node_count: int, counts: list[int]
    ) -> None:
        meta: Mapping[str, Any] = file.meta["columns"]
        self._file = file
        self._sizes = [node_count, *counts]
        self._repeated = {_NOTES: self._rows_of(_NOTES, records.listing, OF_NOTES)}
        self._bodies = NodeBodies(records, self._repeated[_NOTES].rows)
        if records.pieces.height:
            self._repeated[_PIECES] = self._rows_of(_PIECES, records.pieces, OF_PIECES)
        self._pools = {
            name: unpack_series(file, f"pool.{name}", _DTYPES[name], rows, texts)
            for name, rows in meta["pools"].items()
        }
        for name, series in self._pools.items():
            if fault := _fault_of(series):
                raise self._damaged(f"the pool {name} {fault}")
        self._columns: list[dict[str, Column]] = [{} for _ in self._sizes]
        for owner, key, segments in meta["columns"]:
            self._add(owner, key, segments)

    def of(self, owner: int) -> dict[str, Column]:
        """The columns of the nodes (-1) or of a relationship table, in the order they were saved."""
        return self._columns[owner + 1]

    def _add(self, owner: Any, key: Any, rows: Any) -> None:
        if type(owner) is not int or not -1 <= owner < len(self._sizes) - 1:
            raise self._damaged("a column belongs to nothing")
        if type(key) is not str or key in self._columns[owner + 1]:
            raise self._damaged("a column is there twice")
        segments: list[Segment] = []
        stop = 0
        for first, length, pool, start in rows:
            if any(type(number) is not int for number in (first, length, start)):
                raise self._damaged("a segment is malformed")
            if first < stop or length < 1 or first + length > self._sizes[owner + 1]:
                raise self._damaged(f"a segment of {key!r} is out of its place")
            stop = first + length
            if (owner, key, pool) == (-1, "body", _NOTES) and self._repeated[_NOTES].has_all(first, stop):
                segments.append(self._bodies.segment(first, stop))
                continue
            series = self._stated(pool, owner, key, first, stop) if pool in self._repeated else None
            series = self._pooled(pool, start, length) if series is None else series
            segments.append(Segment(first, series.alias(key)))
        self._columns[owner + 1][key] = Column(tuple(segments))

    def _pooled(self, pool: str, start: int, length: int) -> pl.Series:
        series = self._pools[pool]
        if start < 0 or start + length > len(series):
            raise self._damaged(f"a segment leaves the pool {pool}")
        return series.slice(start, length)

    def _stated(self, pool: str, owner: int, key: str, first: int, stop: int) -> pl.Series:
        series = self._repeated[pool].cells(key, first, stop) if owner < 0 else None
        if series is None:
            raise self._damaged(f"{key!r} does not come from the {pool or 'notes'}")
        return series

    def _rows_of(self, pool: str, table: pl.DataFrame, keys: Mapping[str, str]) -> Repeated:
        rows = unpack_numbers(self._file, _SECTIONS[pool], "<u4", self._sizes[0])
        stated = rows[rows != NO_ROW]
        if len(stated) and int(stated.max()) >= table.height:
            raise self._damaged(f"a node belongs to none of the {pool or 'notes'}")
        return Repeated(table, rows, keys)

    def _damaged(self, what: str) -> CorruptKglError:
        return CorruptKglError(f"{self._file.path}: damaged ({what}).")


def variant_fault(kinds: pl.Series, numbers: pl.Series, texts: pl.Series) -> str | None:
    """What is wrong with cells of several kinds, each in the column that its kind says; None where nothing is.

    Whoever reads such a cell relies on the kind, on times that a calendar has, and on JSON that can be parsed.
    """
    if not kinds.drop_nulls().is_between(0, max(ValueKind)).all():  # 0 is a missing cell
        return "has cells of an unknown kind"
    for kind, (least, most) in _TIMES.items():
        times = numbers.filter(kinds == kind)
        if times.null_count() or not times.is_between(least, most).all():
            return "has a time that no calendar has"
    try:
        for text in texts.filter(kinds == ValueKind.JSON).drop_nulls():
            if text:
                json.loads(text)
    except (ValueError, RecursionError):
        return "has a cell that is not JSON"
    return stored_times_fault(kinds, texts)


def _fault_of(pool: pl.Series) -> str | None:
    dtype = pool.dtype.inner if isinstance(pool.dtype, pl.List) else pool.dtype
    kind = next((kind for kind, time in _TIME_DTYPES.items() if dtype == time), None)
    if dtype != VARIANT and kind is None:
        return None
    cells = (pool.explode() if isinstance(pool.dtype, pl.List) else pool).drop_nulls()
    if kind is None:
        return variant_fault(*(cells.struct.field(name) for name in ("kind", "number", "text")))
    return None if cells.to_physical().is_between(*_TIMES[kind]).all() else "has a time that no calendar has"
