"""Property columns in a .kgl file: segments of one dtype lie in one pool, texts of notes in the records.

Half of graph/store. A graph may have thousands of small segments; one pool a dtype keeps the number of sections, and
with it the time to open a file, small. A segment that only repeats what the records state (path, title, body; text of
a part of a note) is stored as a reference to them, which repeated_columns.py finds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.errors import CorruptKglError
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.repeated_columns import NO_ROW, OF_NOTES, OF_PIECES, Repeated, repeated_notes, repeated_pieces
from vaultgraph.graph.stored_cells import pool_fault
from vaultgraph.graph.stored_late import Known, LateReads, LateSegment
from vaultgraph.graph.stored_records import LateRecords
from vaultgraph.kgl.arrays import is_valid, pack_series, unpack_numbers, unpack_series
from vaultgraph.kgl.reader import KglFile
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Piece
from vaultgraph.note.records import NOTES, PIECES, RecordTable, ValueKind

_NOTES: Final = ""  # the pool that is the records' notes
_PIECES: Final = "pieces"  # the pool that is their pieces
EARLY_POOL: Final = "pool.path"
"""The pool whose texts a start needs."""
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
_LISTS: Final = {f"list_{name}": pl.List(dtype) for name, dtype in _SCALARS.items()}
_NAMES: Final = {dtype: name for name, dtype in (_SCALARS | _LISTS).items()}
_PATHS: Final = "path"  # a pool of its own: every start asks for the paths of nodes that are no notes
_OF_RELATIONSHIPS: Final = "relationships."  # pools of their own: most queries ask for one of the two
_DTYPES: Final = _SCALARS | _LISTS | {_PATHS: pl.String()}


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
            if owner >= 0:
                pool = f"{_OF_RELATIONSHIPS}{pool}"
            elif (key, pool) == ("path", "text"):
                pool = _PATHS
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


class _Pool:
    """The values of a pool in a file, and what is known of them without."""

    def __init__(self, file: KglFile, reads: LateReads, name: str, rows: Any, texts: Callable[[], pl.Series]) -> None:
        self.dtype = _DTYPES[name.removeprefix(_OF_RELATIONSHIPS)]
        if type(rows) is not int:
            raise CorruptKglError(f"{file.path}: damaged (the pool {name} has {rows!r} rows).")
        self.rows = rows
        at = f"pool.{name}"
        self._values = reads.late(partial(_values, file, at, self.dtype, rows, texts))
        self._is_there = reads.late(partial(is_valid, file, at, rows))
        self._kinds = reads.late(partial(_kinds, file, at, rows)) if self.dtype == VARIANT else None

    def segment(self, key: str, first: int, start: int, length: int) -> LateSegment:
        """``length`` values from ``start``, as those of the property ``key`` from the id ``first``."""
        known = Known(partial(self._filled, start), partial(self._kinds_at, start) if self._kinds else None)
        return LateSegment(first, length, self.dtype, partial(self._cells, key, start, length), known)

    def _cells(self, key: str, start: int, length: int) -> pl.Series:
        return self._values().slice(start, length).alias(key)

    def _filled(self, start: int, one: int, other: int) -> int:
        is_there = self._is_there()
        return other - one if is_there is None else int(is_there[start + one : start + other].sum())

    def _kinds_at(self, start: int, one: int, other: int) -> npt.NDArray[np.uint8]:
        assert self._kinds is not None
        return self._kinds()[start + one : start + other]


class ColumnReader:
    """The columns of a graph from a file; their values are read when they are first asked for.

    ``texts``: the shared ones that a start needs, and all. ``sizes``: how many nodes, and relationships of each table.

    Raises (in all methods):
        CorruptKglError: segments overlap, leave their owner or their pool.
    """

    def __init__(
        self,
        file: KglFile,
        reads: LateReads,
        records: LateRecords,
        texts: tuple[pl.Series, Callable[[], pl.Series]],
        sizes: tuple[int, Sequence[int]],
    ) -> None:
        meta: Mapping[str, Any] = file.meta["columns"]
        self._file = file
        self._sizes = [sizes[0], *sizes[1]]
        self._has_body = records.has_body
        rows = file.meta["rows"]
        self._repeated = {_NOTES: self._rows_of(_NOTES, records.column, records.listing.height, OF_NOTES)}
        self._dtypes: dict[str, pl.Schema] = {_NOTES: NOTES, _PIECES: PIECES}
        if rows["records.pieces"]:
            self._repeated[_PIECES] = self._rows_of(_PIECES, records.piece_column, rows["records.pieces"], OF_PIECES)
        early, every = (lambda: texts[0]), texts[1]
        self._pools = {
            name: _Pool(file, reads, name, rows, early if name == _PATHS else every)
            for name, rows in meta["pools"].items()
        }
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
            if pool in self._repeated:
                segments.append(self._stated(pool, owner, key, (first, stop)))
            else:
                segments.append(self._pooled(pool, key, first, start, length))
        self._columns[owner + 1][key] = Column(tuple(segments))

    def _pooled(self, name: str, key: str, first: int, start: int, length: int) -> LateSegment:
        pool = self._pools[name]
        if start < 0 or start + length > pool.rows:
            raise self._damaged(f"a segment leaves the pool {name}")
        return pool.segment(key, first, start, length)

    def _stated(self, pool: str, owner: int, key: str, ids: tuple[int, int]) -> LateSegment:
        """Cells of the ``ids`` (first, one past the last) that the notes or pieces state."""
        first, stop = ids
        repeated = self._repeated[pool]
        if owner >= 0 or key not in repeated.keys or not repeated.has_all(first, stop):
            raise self._damaged(f"{key!r} does not come from the {pool or 'notes'}")
        dtype = self._dtypes[pool][repeated.keys[key]]
        known = Known(partial(_filled, self._has_body, repeated, key, first) if pool == _NOTES else None)
        return LateSegment(first, stop - first, dtype, partial(_cells, repeated, key, first, stop), known)

    def _rows_of(self, pool: str, column: Callable[[str], pl.Series], height: Any, keys: Mapping[str, str]) -> Repeated:
        rows = unpack_numbers(self._file, _SECTIONS[pool], "<u4", self._sizes[0])
        stated = rows[rows != NO_ROW]
        if len(stated) and int(stated.max()) >= height:
            raise self._damaged(f"a node belongs to none of the {pool or 'notes'}")
        return Repeated(column, rows, keys)

    def _damaged(self, what: str) -> CorruptKglError:
        return CorruptKglError(f"{self._file.path}: damaged ({what}).")


def _cells(repeated: Repeated, key: str, first: int, stop: int) -> pl.Series:
    found = repeated.cells(key, first, stop)
    assert found is not None
    return found.alias(key)


def _filled(has_body: npt.NDArray[np.bool_], repeated: Repeated, key: str, first: int, one: int, other: int) -> int:
    rows = repeated.rows[first + one : first + other]
    if key == "body":
        return int(has_body[rows].sum())
    source = repeated.column(repeated.keys[key])
    return other - one - (source.gather(rows).null_count() if source.null_count() else 0)


def _values(file: KglFile, at: str, dtype: pl.DataType, rows: int, texts: Callable[[], pl.Series]) -> pl.Series:
    """The values of one dtype, all that stands in them checked."""
    series = unpack_series(file, at, dtype, rows, texts())
    if fault := pool_fault(series):
        raise CorruptKglError(f"{file.path}: damaged ({at} {fault}).")
    return series


def _kinds(file: KglFile, at: str, rows: int) -> npt.NDArray[np.uint8]:
    """The kinds of cells of several, 0 for null."""
    kinds = unpack_series(file, f"{at}.kind", pl.UInt8(), rows).fill_null(0).to_numpy()
    if len(kinds) and kinds.max() > max(ValueKind):
        raise CorruptKglError(f"{file.path}: damaged ({at} has cells of an unknown kind).")
    is_there = is_valid(file, at, rows)
    return kinds if is_there is None else np.where(is_there, kinds, 0).astype(np.uint8)
