"""Columns as a whole: to and from Python values, gathering rows, stacking and filtering.

The four column shapes are told apart here, so that operators and kernels need not. Nothing here reads the graph.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from itertools import accumulate, chain
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.execute.bindings import (
    Bindings,
    BoundColumn,
    NodeColumn,
    ObjectColumn,
    RelationshipColumn,
    ValueColumn,
)
from vaultgraph.cypher.syntax import Span
from vaultgraph.cypher.values import NodeRef, RelationshipRef, is_list, type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids

LOCAL_DATETIME: Final = pl.Datetime("us")
UTC_DATETIME: Final = pl.Datetime("us", "UTC")

_MANY_LISTS: Final = 64
_MOST_COPIED_ITEMS: Final = 100_000
_MOST_COPIED_TEXT: Final = 100_000_000  # characters; longer texts stay the Python objects they are, which rows share
_MOST_TYPED_ITEMS: Final = 10_000_000
_MOST_CELLS_AT_ONCE: Final = 8_192
_DTYPES: Final[dict[type, pl.DataType]] = {
    bool: pl.Boolean(),
    int: pl.Int64(),
    float: pl.Float64(),
    str: pl.String(),
    date: pl.Date(),
}


def height_of(column: BoundColumn) -> int:
    """The number of rows."""
    match column:
        case NodeColumn() | RelationshipColumn():
            return len(column.ids)
        case ValueColumn():
            return len(column.series)
        case ObjectColumn():
            return len(column.values)


def nulls(height: int) -> ValueColumn:
    """A column of ``height`` nulls."""
    return ValueColumn(pl.repeat(None, height, dtype=pl.Null, eager=True))


def column_values(column: BoundColumn) -> list[object]:
    """The cells as engine values (NodeRef, RelationshipRef, plain values), None for null."""
    match column:
        case NodeColumn():
            # row loop: one small object a node, by request of an operator that works on Python values
            return [NodeRef(one) if one >= 0 else None for one in column.ids.tolist()]
        case RelationshipColumn():
            # row loop: as above
            return [RelationshipRef(one) if one >= 0 else None for one in column.ids.tolist()]
        case ValueColumn():
            return _cells(column.series)
        case ObjectColumn():
            return column.values


def _cells(series: pl.Series) -> list[object]:
    """The cells as Python values; of a long column some at a time, as no other thread runs while they are made."""
    if len(series) <= _MOST_CELLS_AT_ONCE:
        return series.to_list()
    cells: list[object] = []
    for start in range(0, len(series), _MOST_CELLS_AT_ONCE):
        cells += series.slice(start, _MOST_CELLS_AT_ONCE).to_list()
    return cells


def from_values(values: list[object]) -> BoundColumn:
    """The narrowest column that holds engine values: typed where all cells but nulls have one type, references as
    ids, lists of one plain type as List; else, and where a copy would be huge, an ObjectColumn of the very list."""
    kinds = {type(value) for value in values}
    kinds.discard(type(None))
    if not kinds:
        return nulls(len(values))
    if len(kinds) > 1:
        return ObjectColumn(values)
    kind = kinds.pop()
    if kind is NodeRef or kind is RelationshipRef:
        # row loop: unpacks one small object a row
        numbers = [-1 if value is None else value.id for value in values]  # type: ignore[attr-defined]
        ids = np.array(numbers, dtype=np.int64)
        return NodeColumn(ids) if kind is NodeRef else RelationshipColumn(ids)
    if kind is list:
        return _from_lists(values)
    dtype = _dtype_of(kind, values)
    if dtype is None or (kind is str and _is_much_text(values)):
        return ObjectColumn(values)
    return ValueColumn(pl.Series(values, dtype=dtype))


def from_constant(value: object, height: int) -> BoundColumn:
    """A column of ``height`` times the same value."""
    match from_values([value]):
        case ValueColumn(series) if isinstance(series.dtype, pl.List) and _is_long(value, height):
            return ObjectColumn([value] * height)
        case ValueColumn(series):
            return ValueColumn(series.new_from_index(0, height))
        case NodeColumn(ids):
            return NodeColumn(np.repeat(ids, height))
        case RelationshipColumn(ids):
            return RelationshipColumn(np.repeat(ids, height))
        case ObjectColumn():
            return ObjectColumn([value] * height)


def _is_long(value: object, height: int) -> bool:
    return is_list(value) and len(value) * height > _MOST_COPIED_ITEMS


def _is_much_text(values: Iterable[object]) -> bool:
    lengths = (len(value) for value in values if isinstance(value, str))
    return any(total > _MOST_COPIED_TEXT for total in accumulate(lengths))


def _dtype_of(kind: type, values: Sequence[object]) -> pl.DataType | None:
    if kind is datetime:
        aware = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
        return None if len(aware) > 1 else (UTC_DATETIME if aware.pop() else LOCAL_DATETIME)
    return _DTYPES.get(kind)


def _from_lists(values: list[object]) -> BoundColumn:
    if sum(len(value) for value in values if is_list(value)) > _MOST_TYPED_ITEMS:
        return ObjectColumn(values)
    items = list(chain.from_iterable(value for value in values if is_list(value)))
    kinds = {type(item) for item in items}
    kinds.discard(type(None))
    if len(kinds) > 1:
        return ObjectColumn(values)
    dtype = _dtype_of(kinds.pop(), items) if kinds else pl.Null()
    return (
        ObjectColumn(values)
        if dtype is None or (dtype == pl.String and _is_much_text(items))
        else ValueColumn(_list_series(values, items, dtype))
    )


def _list_series(values: Sequence[object], items: Sequence[object], dtype: pl.DataType) -> pl.Series:
    """The lists as a List series; many of them from their items as one series, which is much faster."""
    if len(values) < _MANY_LISTS or not items:
        return pl.Series(values, dtype=pl.List(dtype))
    lengths = np.array([len(value) if is_list(value) else -1 for value in values], dtype=np.int64)
    flat = pl.Series(items, dtype=dtype)
    if lengths[0] > 0 and bool((lengths == lengths[0]).all()):
        return flat.reshape((len(values), int(lengths[0]))).arr.to_list()
    rows = np.repeat(np.arange(len(values), dtype=np.int64), np.maximum(lengths, 0))
    lists = pl.DataFrame({"row": rows, "cell": flat}).group_by("row", maintain_order=True).agg("cell")["cell"]
    is_filled = lengths > 0
    places = np.where(is_filled, np.cumsum(is_filled) - 1, np.where(lengths == 0, len(lists), len(lists) + 1))
    return pl.concat([lists, pl.Series([[], None], dtype=lists.dtype)]).gather(places)


def take(column: BoundColumn, positions: Ids) -> BoundColumn:
    """The rows at ``positions`` (``int64[k]``, any order, repeats allowed); -1 gives null."""
    missing = positions < 0 if len(positions) and positions.min() < 0 else None
    match column:
        case NodeColumn(ids):
            return NodeColumn(_take_ids(ids, positions, missing))
        case RelationshipColumn(ids):
            return RelationshipColumn(_take_ids(ids, positions, missing))
        case ValueColumn(series):
            if isinstance(series.dtype, pl.List) and _would_swell(series, positions):
                return take(ObjectColumn(series.to_list()), positions)
            if missing is None:
                return ValueColumn(series[positions.astype(np.uint32)])  # a third of the cost of gather
            if not len(series):
                return ValueColumn(pl.repeat(None, len(positions), dtype=series.dtype, eager=True))
            return ValueColumn(series.gather(pl.Series(positions).set(pl.Series(missing), None)))
        case ObjectColumn(values):
            # row loop: cells are Python objects
            return ObjectColumn([values[one] if one >= 0 else None for one in positions.tolist()])


def _would_swell(series: pl.Series, positions: Ids) -> bool:
    """Whether repeating rows copies so many list items that sharing Python lists is better: a collected list beside
    every row of a match, say."""
    if len(positions) < 2 or not len(series):
        return False
    lengths = series.list.len().fill_null(0).to_numpy().astype(np.int64)
    items = int(lengths[positions].sum())
    return items > _MOST_COPIED_ITEMS and items > 4 * int(lengths.sum())


def take_rows(bindings: Bindings, positions: Ids, names: Sequence[str] | None = None) -> Bindings:
    """Bindings of the rows at ``positions``; only the columns ``names`` where given (unknown names are skipped)."""
    chosen = bindings.columns if names is None else {n: bindings.columns[n] for n in names if n in bindings.columns}
    return Bindings(len(positions), {name: take(column, positions) for name, column in chosen.items()})


def slice_rows(bindings: Bindings, start: int, stop: int, names: Collection[str] | None = None) -> Bindings:
    """Rows ``start`` … ``stop - 1``, which exist; only the columns ``names`` where given. Typed columns are views."""
    columns: dict[str, BoundColumn] = {}
    for name, column in bindings.columns.items():
        if names is None or name in names:
            columns[name] = slice_column(column, start, stop)
    return Bindings(stop - start, columns)


def slice_column(column: BoundColumn, start: int, stop: int) -> BoundColumn:
    """Rows ``start`` … ``stop - 1``, which exist."""
    match column:
        case NodeColumn(ids):
            return NodeColumn(ids[start:stop])
        case RelationshipColumn(ids):
            return RelationshipColumn(ids[start:stop])
        case ValueColumn(series):
            return ValueColumn(series.slice(start, stop - start))
        case ObjectColumn(values):
            return ObjectColumn(values[start:stop])


def _take_ids(ids: Ids, positions: Ids, missing: npt.NDArray[np.bool_] | None) -> Ids:
    if missing is None:
        return ids[positions]
    if not len(ids):
        return np.full(len(positions), -1, dtype=np.int64)
    return np.where(missing, -1, ids[positions])


def concat(columns: Sequence[BoundColumn]) -> BoundColumn:
    """The columns below one another; where their shapes or types differ the result is an ObjectColumn, unless all but
    one kind are only nulls. At least one column must be given."""
    filled = [column for column in columns if not _all_null(column)] or [columns[0]]
    first = filled[0]
    if isinstance(first, NodeColumn | RelationshipColumn) and all(type(one) is type(first) for one in filled):
        ids = np.concatenate([_ids_or_missing(column) for column in columns])
        return NodeColumn(ids) if isinstance(first, NodeColumn) else RelationshipColumn(ids)
    if isinstance(first, ValueColumn) and (dtype := _common_dtype(filled)) is not None:
        return ValueColumn(pl.concat([_series_or_null(column, dtype) for column in columns]))
    return ObjectColumn([value for column in columns for value in column_values(column)])


def _all_null(column: BoundColumn) -> bool:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return not len(ids) or int(ids.max()) < 0
        case ValueColumn(series):
            return series.null_count() == len(series)
        case ObjectColumn(values):
            return not any(value is not None for value in values)


def _ids_or_missing(column: BoundColumn) -> Ids:
    if isinstance(column, NodeColumn | RelationshipColumn) and not _all_null(column):
        return column.ids
    return np.full(height_of(column), -1, dtype=np.int64)


def _common_dtype(columns: Sequence[BoundColumn]) -> pl.DataType | None:
    """The dtype all columns can take without changing a value, None where there is none."""
    dtypes = {column.series.dtype for column in columns if isinstance(column, ValueColumn)}
    return one_dtype(dtypes) if all(isinstance(column, ValueColumn) for column in columns) else None


def one_dtype(dtypes: Collection[pl.DataType]) -> pl.DataType | None:
    """The one dtype among ``dtypes``, None for several; lists without items go with every other list."""
    if len(dtypes) > 1 and all(isinstance(dtype, pl.List) for dtype in dtypes):
        dtypes = [dtype for dtype in dtypes if dtype != pl.List(pl.Null)]
    return next(iter(dtypes)) if len(dtypes) == 1 else None


def _series_or_null(column: BoundColumn, dtype: pl.DataType) -> pl.Series:
    if isinstance(column, ValueColumn) and not _all_null(column):
        return column.series if column.series.dtype == dtype else column.series.cast(dtype)
    return pl.repeat(None, height_of(column), dtype=dtype, eager=True)


def filter_rows(column: BoundColumn, text: str, span: Span) -> npt.NDArray[np.bool_]:
    """Which rows are true, ``bool[height]``; null and false are dropped.

    Raises:
        EvaluationError: a cell is neither boolean nor null; ``span`` of ``text`` is shown.
    """
    if isinstance(column, ValueColumn) and column.series.dtype == pl.Boolean:
        series = column.series
        return (series.fill_null(value=False) if series.null_count() else series).to_numpy()
    if _all_null(column):
        return np.zeros(height_of(column), dtype=np.bool_)
    # row loop: mixed cells, or the first wrong one is looked for
    values = column_values(column)
    for value in values:
        if value is not None and not isinstance(value, bool):
            raise EvaluationError(f"A condition must be true, false or null, not {type_name(value)}.", text, *span)
    return np.array([value is True for value in values], dtype=np.bool_)
