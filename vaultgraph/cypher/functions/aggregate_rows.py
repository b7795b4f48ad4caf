"""Computing aggregates: one value a group from a column and the group of each row.

Called by execute/aggregate. Typed columns are worked on as a whole; only sums of mixed values and of durations loop
over rows. Nulls are never counted; min, max and percentiles use the order of `values.order_key`.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import (
    column_values,
    from_values,
    nulls,
    take,
)
from vaultgraph.cypher.execute.grouping import group_codes, sort_order
from vaultgraph.cypher.execute.rows import put_together
from vaultgraph.cypher.functions.aggregates import AGGREGATES
from vaultgraph.cypher.syntax import Span
from vaultgraph.cypher.value_operators import add, divide
from vaultgraph.cypher.values import Refusal, is_number, type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids

_ORDERED: Final[tuple[pl.DataType, ...]] = (pl.Int64(), pl.String(), pl.Date())
"""Types whose least and greatest polars finds as Cypher does (not floats, for NaN)."""
_EXACT_SUM: Final = 2.0**62


@frozen
class _Grouped:
    """The rows that count, in order: ``column`` without nulls (and repeats, for DISTINCT), the group of each row."""

    name: str
    column: BoundColumn
    groups: Ids
    count: int
    budget: Budget

    def sizes(self) -> Ids:
        """How many rows each group has."""
        return np.bincount(self.groups, minlength=self.count).astype(np.int64)


def aggregate(
    name: str,
    distinct: bool,
    column: BoundColumn | None,
    extra_arguments: Sequence[BoundColumn],
    groups: Ids,
    group_count: int,
    context: Context,
    at: Span,
) -> BoundColumn:
    """The aggregate ``name`` of each group: a column of ``group_count`` rows.

    ``groups``: the group of each row, ``int64[height]``. ``column`` None counts rows (``count(*)``). Without values
    count and sum are 0, collect is [], the others null. ``at`` is the span of the call.

    Raises:
        EvaluationError: values of the wrong type, an overflow, a percentile outside 0 … 1.
        BudgetError: the budget ran out.
    """
    context.budget.check()
    if column is None:
        return ValueColumn(pl.Series(np.bincount(groups, minlength=group_count).astype(np.int64)))
    try:
        known = AGGREGATES[name.lower()].name
        rows = _rows_that_count(column, groups, context.budget, distinct=distinct)
        if len(rows) == len(groups):
            grouped = _Grouped(known, column, groups, group_count, context.budget)
        else:
            grouped = _Grouped(known, take(column, rows), groups[rows], group_count, context.budget)
        if known.startswith("percentile"):
            every = len(rows) == len(groups)
            return _percentile(grouped, extra_arguments[0] if every else take(extra_arguments[0], rows))
        return _AGGREGATES[known](grouped)
    except Refusal as refusal:
        raise EvaluationError(str(refusal), context.text, *at) from None


def _rows_that_count(column: BoundColumn, groups: Ids, budget: Budget, *, distinct: bool) -> Ids:
    rows = np.flatnonzero(_has_value(column))
    if distinct and len(rows):
        keys: list[BoundColumn] = [ValueColumn(pl.Series(groups[rows])), take(column, rows)]
        rows = rows[group_codes(keys, len(rows), budget)[1]]
    return rows


def _has_value(column: BoundColumn) -> npt.NDArray[np.bool_]:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return ids >= 0
        case ValueColumn(series):
            return series.is_not_null().to_numpy() if series.null_count() else np.ones(len(series), dtype=np.bool_)
        case _:
            # row loop: cells are Python objects
            return np.array([value is not None for value in column.values], dtype=np.bool_)


def _count(grouped: _Grouped) -> BoundColumn:
    return ValueColumn(pl.Series(grouped.sizes()))


def _collect(grouped: _Grouped) -> BoundColumn:
    if bool((grouped.groups[1:] >= grouped.groups[:-1]).all()):
        return put_together(grouped.column, grouped.groups, grouped.count, grouped.budget)
    order = np.argsort(grouped.groups, kind="stable")
    return put_together(take(grouped.column, order), grouped.groups[order], grouped.count, grouped.budget)


def _least(grouped: _Grouped) -> BoundColumn:
    return _first_of(grouped, descending=False)


def _most(grouped: _Grouped) -> BoundColumn:
    return _first_of(grouped, descending=True)


def _first_of(grouped: _Grouped, *, descending: bool) -> BoundColumn:
    """The cell of each group that comes first in the order of the whole column."""
    column = grouped.column
    if isinstance(column, ValueColumn) and column.series.dtype in _ORDERED:
        frame = pl.DataFrame({"group": grouped.groups, "value": column.series})
        value = pl.col("value").max() if descending else pl.col("value").min()
        found = frame.group_by("group").agg(value)
        places = np.full(grouped.count, -1, dtype=np.int64)
        places[found["group"].to_numpy()] = np.arange(len(found), dtype=np.int64)
        return take(ValueColumn(found["value"]), places)
    order = sort_order([grouped.column], [descending], len(grouped.groups), grouped.budget)
    present, places = np.unique(grouped.groups[order], return_index=True)
    rows = np.full(grouped.count, -1, dtype=np.int64)
    rows[present] = order[places]
    return take(grouped.column, rows)


def _sum(grouped: _Grouped) -> BoundColumn:
    sums = _sums(grouped)
    return _sum_rows(grouped) if sums is None else ValueColumn(pl.Series(sums))


def _average(grouped: _Grouped) -> BoundColumn:
    sizes = grouped.sizes()
    sums = _sums(grouped)
    if sums is not None:
        return _known(sums / np.maximum(sizes, 1), sizes > 0)
    # row loop: one step a group
    pairs = zip(_totals(grouped, _added), sizes.tolist(), strict=True)
    return from_values([None if total is None else _divided(total, size) for total, size in pairs])


def _known(values: npt.NDArray[np.float64], known: npt.NDArray[np.bool_]) -> BoundColumn:
    series = pl.Series(values)
    return ValueColumn(series if known.all() else series.set(pl.Series(~known), None))


def _deviation(grouped: _Grouped, missing: int) -> BoundColumn:
    """The standard deviation; ``missing`` is 1 of a sample, 0 of a whole. A group of one has 0.0."""
    numbers = _numbers(grouped)
    if numbers is None:
        _refuse_others(grouped, Duration)
        numbers = pl.Series(column_values(grouped.column), dtype=pl.Float64, strict=False)
    sizes = grouped.sizes()
    values = numbers.cast(pl.Float64).to_numpy()
    with np.errstate(all="ignore"):
        means = _float_sums(values, grouped) / np.maximum(sizes, 1)
        squares = _float_sums((values - means[grouped.groups]) ** 2, grouped)
        return _known(np.sqrt(squares / np.maximum(sizes - missing, 1)), sizes > 0)


def _sample_deviation(grouped: _Grouped) -> BoundColumn:
    return _deviation(grouped, 1)


def _whole_deviation(grouped: _Grouped) -> BoundColumn:
    return _deviation(grouped, 0)


def _numbers(grouped: _Grouped) -> pl.Series | None:
    """The cells where they are typed numbers, else None."""
    column = grouped.column
    if not isinstance(column, ValueColumn):
        return None
    if column.series.dtype == pl.Null:
        return pl.Series([], dtype=pl.Int64)
    return column.series if column.series.dtype.is_numeric() else None


def _sums(grouped: _Grouped) -> Ids | npt.NDArray[np.float64] | None:
    """Exact sums of integers, float sums of floats; None where the cells are no typed numbers or might overflow."""
    numbers = _numbers(grouped)
    if numbers is None:
        return None
    floats = numbers.cast(pl.Float64).to_numpy()
    if numbers.dtype == pl.Float64:
        return _float_sums(floats, grouped)
    if float(np.abs(floats).sum()) >= _EXACT_SUM:
        return None
    sums = np.zeros(grouped.count, dtype=np.int64)
    np.add.at(sums, grouped.groups, numbers.to_numpy())
    return sums


def _float_sums(numbers: npt.NDArray[np.float64], grouped: _Grouped) -> npt.NDArray[np.float64]:
    return np.bincount(grouped.groups, weights=numbers, minlength=grouped.count).astype(np.float64)


def _sum_rows(grouped: _Grouped) -> BoundColumn:
    """Sums of mixed numbers or of durations."""
    return from_values([0 if total is None else total for total in _totals(grouped, add)])


def _totals(grouped: _Grouped, plus: Callable[[object, object], object]) -> list[object]:
    """The values of each group added up one by one, None where there are none."""
    _refuse_others(grouped)
    totals: list[object] = [None] * grouped.count
    # row loop: cells differ in type; as many as there are values
    for group, value in zip(grouped.groups.tolist(), column_values(grouped.column), strict=True):
        totals[group] = value if totals[group] is None else plus(totals[group], value)
    return totals


def _added(left: object, right: object) -> object:
    """A sum on the way to an average: of integers without a bound, so that it cannot overflow."""
    return left + right if is_number(left) and is_number(right) else add(left, right)


def _divided(total: object, size: int) -> object:
    return float(total) / size if is_number(total) else divide(total, float(size))


def _refuse_others(grouped: _Grouped, *also: type) -> None:
    """Raise for a cell that is neither a number nor (unless ``also`` says so) a duration."""
    if _numbers(grouped) is not None:
        return
    # row loop: cells differ in type
    for value in column_values(grouped.column):
        if not is_number(value) and (not isinstance(value, Duration) or isinstance(value, also)):
            raise Refusal(f"{grouped.name}() needs numbers, not {type_name(value)}.")


def _percentile(grouped: _Grouped, percentiles: BoundColumn) -> BoundColumn:
    """The value at a part of each group's sorted values; the part is that of the group's first row."""
    _refuse_others(grouped, Duration)
    keys: list[BoundColumn] = [grouped.column]
    if grouped.count > 1:
        keys.insert(0, ValueColumn(pl.Series(grouped.groups)))
    order = sort_order(keys, [False] * len(keys), len(grouped.groups), grouped.budget)
    sizes = grouped.sizes()
    starts = np.cumsum(sizes) - sizes
    present = np.flatnonzero(sizes)
    first_rows = np.zeros(grouped.count, dtype=np.int64)
    first_rows[grouped.groups[::-1]] = np.arange(len(grouped.groups) - 1, -1, -1, dtype=np.int64)  # the last one stays
    first_rows = first_rows[present]
    parts = np.zeros(grouped.count, dtype=np.float64)
    parts[present] = _parts(grouped.name, take(percentiles, first_rows))
    if grouped.name == "percentileDisc":
        places = starts + np.maximum(np.ceil(parts * sizes).astype(np.int64) - 1, 0)
        rows = np.full(grouped.count, -1, dtype=np.int64)
        rows[present] = order[places[present]]
        return take(grouped.column, rows)
    if not len(present):
        return nulls(grouped.count)
    numbers = _numbers(grouped)
    if numbers is None:
        values = np.array(column_values(take(grouped.column, order)), dtype=np.float64)
    else:
        values = numbers.cast(pl.Float64).to_numpy()[order]
    exact = parts * np.maximum(sizes - 1, 0)
    low = np.floor(exact).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(sizes - 1, 0))
    lower, upper = values[np.minimum(starts + low, len(values) - 1)], values[np.minimum(starts + high, len(values) - 1)]
    return _known(lower + (upper - lower) * (exact - low), sizes > 0)


def _parts(name: str, column: BoundColumn) -> list[float]:
    parts: list[float] = []
    # row loop: one step a group
    for value in column_values(column):
        if not is_number(value) or not 0 <= value <= 1:
            shown = value if is_number(value) else type_name(value)
            raise Refusal(f"{name}() needs a percentile from 0.0 to 1.0, not {shown}.")
        parts.append(float(value))
    return parts


_AGGREGATES: Final[Mapping[str, Callable[[_Grouped], BoundColumn]]] = MappingProxyType(
    {
        "avg": _average,
        "collect": _collect,
        "count": _count,
        "max": _most,
        "min": _least,
        "stDev": _sample_deviation,
        "stDevP": _whole_deviation,
        "sum": _sum,
    }
)
