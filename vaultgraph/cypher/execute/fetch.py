"""Columns as a whole: to and from Python values, gathering rows, stacking, filtering, grouping and sorting.

The four column shapes are told apart here, so that operators and kernels need not. Nothing here reads the graph.
"""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import chain
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
from vaultgraph.cypher.values import NodeRef, RelationshipRef, group_key, is_list, order_key, type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph

LOCAL_DATETIME: Final = pl.Datetime("us")
UTC_DATETIME: Final = pl.Datetime("us", "UTC")

_MOST_COPIED_ITEMS: Final = 100_000
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


def column_values(column: BoundColumn, _graph: Graph | None = None) -> list[object]:
    """The cells as engine values (NodeRef, RelationshipRef, plain values), None for null; the graph is not needed."""
    match column:
        case NodeColumn():
            # row loop: one small object a node, by request of an operator that works on Python values
            return [NodeRef(one) if one >= 0 else None for one in column.ids.tolist()]
        case RelationshipColumn():
            # row loop: as above
            return [RelationshipRef(one) if one >= 0 else None for one in column.ids.tolist()]
        case ValueColumn():
            return column.series.to_list()
        case ObjectColumn():
            return column.values


def from_values(values: list[object]) -> BoundColumn:
    """The narrowest column that holds engine values: typed where all cells but nulls have one type, references as
    ids, lists of one plain type as List; else an ObjectColumn of the very list."""
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
    return ObjectColumn(values) if dtype is None else ValueColumn(pl.Series(values, dtype=dtype))


def from_constant(value: object, height: int) -> BoundColumn:
    """A column of ``height`` times the same value."""
    match from_values([value]):
        case ValueColumn(series):
            return ValueColumn(series.new_from_index(0, height))
        case NodeColumn(ids):
            return NodeColumn(np.repeat(ids, height))
        case RelationshipColumn(ids):
            return RelationshipColumn(np.repeat(ids, height))
        case ObjectColumn():
            return ObjectColumn([value] * height)


def _dtype_of(kind: type, values: Sequence[object]) -> pl.DataType | None:
    if kind is datetime:
        aware = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
        return None if len(aware) > 1 else (UTC_DATETIME if aware.pop() else LOCAL_DATETIME)
    return _DTYPES.get(kind)


def _from_lists(values: list[object]) -> BoundColumn:
    items = list(chain.from_iterable(value for value in values if is_list(value)))
    kinds = {type(item) for item in items}
    kinds.discard(type(None))
    if len(kinds) > 1:
        return ObjectColumn(values)
    dtype = _dtype_of(kinds.pop(), items) if kinds else pl.Null()
    return ObjectColumn(values) if dtype is None else ValueColumn(pl.Series(values, dtype=pl.List(dtype)))


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
            index = pl.Series(positions)
            if missing is not None:
                index = index.set(pl.Series(missing), None)
                if not len(series):
                    return ValueColumn(pl.repeat(None, len(positions), dtype=series.dtype, eager=True))
            return ValueColumn(series.gather(index))
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
        return column.series.fill_null(value=False).to_numpy()
    if _all_null(column):
        return np.zeros(height_of(column), dtype=np.bool_)
    # row loop: mixed cells, or the first wrong one is looked for
    values = column_values(column)
    for value in values:
        if value is not None and not isinstance(value, bool):
            raise EvaluationError(f"A condition must be true, false or null, not {type_name(value)}.", text, *span)
    return np.array([value is True for value in values], dtype=np.bool_)


def group_codes(columns: Sequence[BoundColumn], height: int, _graph: Graph | None = None) -> tuple[Ids, Ids]:
    """Which group each row is in: (codes ``int64[height]``, first row of each group ``int64[groups]``).

    Groups are numbered in the order they first appear. Rows are in one group where every column is equal, null with
    null, 1 with 1.0, NaN with NaN. Without columns all rows are one group.
    """
    if not height:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if not columns:
        return np.zeros(height, dtype=np.int64), np.zeros(1, dtype=np.int64)
    keys = {f"key {number}": _group_series(column) for number, column in enumerate(columns)}
    frame = pl.DataFrame(keys).with_row_index("row")
    groups = frame.group_by(list(keys), maintain_order=True).agg("row")["row"]
    rows = groups.explode(empty_as_null=False).to_numpy()
    codes = np.empty(height, dtype=np.int64)
    codes[rows] = np.repeat(np.arange(len(groups), dtype=np.int64), groups.list.len().to_numpy())
    return codes, groups.list.first().to_numpy().astype(np.int64)


def _group_series(column: BoundColumn) -> pl.Series:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return pl.Series(ids)
        case ValueColumn(series):
            return pl.repeat(0, len(series), eager=True) if series.dtype == pl.Null else series
        case ObjectColumn(values):
            codes: dict[object, int] = {}
            # row loop: cells are Python objects
            return pl.Series([codes.setdefault(group_key(value), len(codes)) for value in values], dtype=pl.Int64)


def sort_order(columns: Sequence[BoundColumn], descending: Sequence[bool], height: int) -> Ids:
    """The row numbers in sorted order, ``int64[height]``: by the first column, ties by the next, then as they came.

    Order across types is that of `values.order_key`; nulls are last ascending, first descending.
    """
    if not columns or height < 2:
        return np.arange(height, dtype=np.int64)
    frame = pl.DataFrame({f"key {number}": _sort_series(column) for number, column in enumerate(columns)})
    flags = list(descending)
    order = pl.arg_sort_by(
        frame.columns, descending=flags, nulls_last=[not flag for flag in flags], maintain_order=True
    )
    return frame.select(order.alias("order"))["order"].to_numpy().astype(np.int64)


def _sort_series(column: BoundColumn) -> pl.Series:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            series = pl.Series(ids)
            return series.set(series < 0, None)
        case ValueColumn(series) if series.dtype == pl.Null:
            return pl.repeat(0, len(series), eager=True)
        case ValueColumn(series) if not isinstance(series.dtype, pl.List):
            return series
        case ValueColumn(series):
            codes, first_rows = group_codes([column], len(series))
            distinct = series.gather(first_rows).to_list()
            return _ranks([order_key(value) for value in distinct]).gather(codes)
        case ObjectColumn(values):
            return _ranks([order_key(value) for value in values])


def _ranks(keys: list[tuple[object, ...]]) -> pl.Series:
    """The dense rank of each key. Row loop: cells are Python objects."""
    rank_of: dict[tuple[object, ...], int] = {}
    for key in sorted(keys):  # type: ignore[type-var]
        rank_of.setdefault(key, len(rank_of))
    return pl.Series([rank_of[key] for key in keys], dtype=pl.Int64)
