"""Row by row where columns cannot: applying a function to every row, and lists taken apart and put together again.

The one place with the loop that every operator and function falls back to. It checks the budget as it goes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import chain, pairwise, repeat
from sys import getsizeof
from typing import Final, TypeVar, cast

import numpy as np
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, ObjectColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import column_values, from_constant, from_values, height_of, slice_column
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.values import Refusal, is_list, type_name
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids

_ROWS_BETWEEN_CHECKS: Final = 64
_ROWS_AT_ONCE: Final = 65_536
_CELLS_AT_ONCE: Final = 500_000
_ITEM_BYTES: Final = 32
_MAP_BYTES: Final = 184
_REFERENCE_BYTES: Final = 80

_Cell = TypeVar("_Cell")


def to_column(operand: Operand, height: int) -> BoundColumn:
    """The operand as a column of ``height`` rows."""
    return from_constant(operand.value, height) if isinstance(operand, Constant) else operand


def cells_of(operand: Operand, height: int) -> Iterable[object]:
    """The operand's engine values, ``height`` of them; of a long typed column only some exist at once."""
    if isinstance(operand, Constant):
        return repeat(operand.value, height)
    if not isinstance(operand, ObjectColumn) and height > _ROWS_AT_ONCE:
        starts = range(0, height, _ROWS_AT_ONCE)
        slices = (slice_column(operand, start, min(start + _ROWS_AT_ONCE, height)) for start in starts)
        return chain.from_iterable(column_values(one) for one in slices)
    return column_values(operand)


def watched(cells: Iterable[_Cell], budget: Budget) -> Iterator[_Cell]:
    """The cells, with a look at the budget every now and then.

    Raises:
        BudgetError: the budget ran out.
    """
    for number, cell in enumerate(cells):
        if number % _ROWS_BETWEEN_CHECKS == 0:
            budget.check()
        yield cell


def map_rows(apply: Callable[..., object], operands: Sequence[Operand], height: int, budget: Budget) -> BoundColumn:
    """``apply`` called with the cells of each row; without operands it is called ``height`` times.

    Raises:
        Refusal: from ``apply``.
        BudgetError: the budget ran out.
    """
    columns = [cells_of(operand, height) for operand in operands]
    rows: Iterable[tuple[object, ...]] = zip(*columns, strict=True) if columns else repeat((), height)
    made: list[object] = []
    size = 0
    # row loop: operands have no one type, or the operation no kernel; as many as there are rows
    for number, row in enumerate(rows):
        if number % _ROWS_BETWEEN_CHECKS == 0 or size > budget.most_bytes:
            budget.check(size=size)
        value = apply(*row)
        size += bytes_of(value)
        made.append(value)
    budget.check(size=size)
    return from_values(made)


def bytes_of(value: object) -> int:
    """About what a new cell takes: itself, and the items of a list, a map and the maps in it as if they were new."""
    if is_list(value):
        return getsizeof(value) + _ITEM_BYTES * len(value)
    if not isinstance(value, dict):
        return getsizeof(value)
    cells = cast("dict[str, object]", value).values()
    return _map_bytes(cells) + sum(_map_bytes(cast("dict[str, object]", one)) for one in cells if isinstance(one, dict))


def _map_bytes(cells: Sized) -> int:
    return _MAP_BYTES + 2 * _ITEM_BYTES * len(cells)


def about_bytes(column: BoundColumn) -> int:
    """About what a column takes; of Python values by the first of them."""
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return ids.nbytes
        case ValueColumn(series):
            return int(series.estimated_size())
        case ObjectColumn(values):
            few = values[:_ROWS_BETWEEN_CHECKS]
            return len(values) * sum(map(bytes_of, few)) // max(len(few), 1)


@frozen
class Items:
    """Lists taken apart: item ``k`` belongs to row ``rows[k]`` (ascending); ``is_null`` marks rows without a list."""

    rows: Ids
    column: BoundColumn
    is_null: "np.ndarray[tuple[int], np.dtype[np.bool_]]"


def take_apart(column: BoundColumn, purpose: str, budget: Budget) -> Items:
    """All items of a column of lists, in order.

    Raises:
        Refusal: a cell is neither a list nor null; ``purpose`` names what needs one.
        BudgetError: too many items.
    """
    if isinstance(column, ValueColumn) and isinstance(column.series.dtype, pl.List):
        budget.check(int(column.series.list.len().sum() or 0))
        return _take_apart_series(column.series)
    values = column_values(column)
    # row loop: cells are Python lists
    for value in values:
        if value is not None and not is_list(value):
            raise Refusal(f"{purpose} needs a list, not {type_name(value)}.")
    lists = [value if is_list(value) else [] for value in values]
    lengths = np.array([len(one) for one in lists], dtype=np.int64)
    budget.check(int(lengths.sum()))
    rows = np.repeat(np.arange(len(lists), dtype=np.int64), lengths)
    is_null = np.array([value is None for value in values], dtype=np.bool_)
    return Items(rows, from_values(list(chain.from_iterable(lists))), is_null)


def _take_apart_series(series: pl.Series) -> Items:
    lengths = series.list.len().fill_null(0).to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(series), dtype=np.int64), lengths)
    items = series.filter(pl.Series(lengths > 0)).explode()
    return Items(rows, ValueColumn(items), series.is_null().to_numpy())


def put_together(column: BoundColumn, rows: Ids, height: int, budget: Budget) -> BoundColumn:
    """A list a row: the cells ``column[k]`` of row ``rows[k]`` (ascending), in order; rows without one give [].

    Raises:
        BudgetError: the budget ran out.
    """
    counts = np.bincount(rows, minlength=height).astype(np.int64)
    if isinstance(column, ValueColumn) and not isinstance(column.series.dtype, pl.List):
        if height == 1:
            return ValueColumn(column.series.implode())
        return ValueColumn(_lists_in_parts(column.series, rows, counts, budget))
    if isinstance(column, NodeColumn | RelationshipColumn):
        budget.check(size=_REFERENCE_BYTES * len(rows))
    values = list(watched(cells_of(column, len(rows)), budget)) if len(rows) > _ROWS_AT_ONCE else column_values(column)
    bounds = np.concatenate([[0], np.cumsum(counts)]).tolist()
    # row loop: items are Python values; one slice a row
    return ObjectColumn([values[start:stop] for start, stop in pairwise(bounds)])


def _lists_in_parts(series: pl.Series, rows: Ids, counts: Ids, budget: Budget) -> pl.Series:
    if len(rows) <= _CELLS_AT_ONCE:
        return _gathered_lists(series, rows, counts)
    stops = np.cumsum(counts)
    cuts = np.searchsorted(stops, np.arange(_CELLS_AT_ONCE, len(rows), _CELLS_AT_ONCE))
    parts: list[pl.Series] = []
    first = at = 0
    for last in (*np.unique(cuts).tolist(), len(counts) - 1):
        budget.check()
        if last < first:
            continue
        stop = int(stops[last])
        part = _gathered_lists(series.slice(at, stop - at), rows[at:stop] - first, counts[first : last + 1])
        parts.append(part)
        first, at = last + 1, stop
    return pl.concat(parts)


def _gathered_lists(series: pl.Series, rows: Ids, counts: Ids) -> pl.Series:
    """A List series of ``len(counts)`` rows from the cells of each row."""
    frame = pl.DataFrame({"row": rows, "cell": series})
    lists = frame.group_by("row", maintain_order=True).agg("cell")["cell"]
    is_filled = counts > 0
    places = np.where(is_filled, np.cumsum(is_filled) - 1, len(lists))
    return pl.concat([lists, pl.Series([[]], dtype=lists.dtype)]).gather(places)


def with_nulls(column: BoundColumn, is_null: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> BoundColumn:
    """The column with null wherever ``is_null``."""
    if not is_null.any():
        return column
    match column:
        case NodeColumn(ids):
            return NodeColumn(np.where(is_null, -1, ids))
        case RelationshipColumn(ids):
            return RelationshipColumn(np.where(is_null, -1, ids))
        case ValueColumn(series):
            keep = pl.Series(np.where(is_null, -1, np.arange(height_of(column))))
            return ValueColumn(series.gather(keep.set(keep < 0, None)))
        case ObjectColumn(values):
            # row loop: cells are Python objects
            return ObjectColumn([None if gone else value for value, gone in zip(values, is_null, strict=True)])
