"""Which rows are equal and which comes first: the numbers of groups, and the order of rows.

Called by the operators that group, join and sort. Typed columns are left to polars; mixed cells get a number each.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, ObjectColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.rows import watched
from vaultgraph.cypher.values import group_key, order_key
from vaultgraph.graph.columns import Ids

_MANY_ROWS: Final = 1_000_000  # from here on in parts
_ROWS_AT_ONCE: Final = 250_000
_SAMPLE: Final = 20_000
_FEW_NUMBERS: Final = 100_000
_KEYS_AT_ONCE: Final = 50_000


def group_codes(columns: Sequence[BoundColumn], height: int, budget: Budget) -> tuple[Ids, Ids]:
    """Which group each row is in: (codes ``int64[height]``, first row of each group ``int64[groups]``).

    Groups are numbered in the order they first appear. Rows are in one group where every column is equal, null with
    null, 1 with 1.0, NaN with NaN. Without columns all rows are one group.

    Raises:
        BudgetError: the budget ran out.
    """
    if not height:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if not columns:
        return np.zeros(height, dtype=np.int64), np.zeros(1, dtype=np.int64)
    if len(columns) == 1 and isinstance(column := columns[0], NodeColumn) and bool((np.diff(column.ids) > 0).all()):
        every = np.arange(height, dtype=np.int64)  # each its own group
        return every, every
    keys = {f"key {number}": _group_series(column, budget) for number, column in enumerate(columns)}
    frame = pl.DataFrame(keys)
    if height > _MANY_ROWS:
        return _codes_in_parts(frame, budget)
    return _codes(frame)


def _codes(frame: pl.DataFrame) -> tuple[Ids, Ids]:
    groups = frame.with_row_index("row").group_by(frame.columns, maintain_order=True).agg("row")["row"]
    rows = groups.explode(empty_as_null=False).to_numpy()
    codes = np.empty(frame.height, dtype=np.int64)
    codes[rows] = np.repeat(np.arange(len(groups), dtype=np.int64), groups.list.len().to_numpy())
    return codes, groups.list.first().to_numpy().astype(np.int64)


def _codes_in_parts(frame: pl.DataFrame, budget: Budget) -> tuple[Ids, Ids]:
    """What `_codes` gives, found part by part: equal rows have equal hashes and so fall into one part."""
    height, parts = frame.height, -(-frame.height // _ROWS_AT_ONCE)
    place = np.empty(height, dtype=np.uint16)
    for start in range(0, height, _ROWS_AT_ONCE):
        budget.check()
        hashes = frame.slice(start, _ROWS_AT_ONCE).hash_rows().to_numpy()
        place[start : start + _ROWS_AT_ONCE] = (hashes >> np.uint64(32)) % np.uint64(parts)
    codes, firsts, made = np.empty(height, dtype=np.int64), list[Ids](), 0
    for part in range(parts):
        budget.check()
        rows = np.flatnonzero(place == part)
        if len(rows):
            own, first_rows = _codes(frame[rows.astype(np.uint32)])
            codes[rows] = own + made
            firsts.append(rows[first_rows])
            made += len(first_rows)
    budget.check()
    first_rows = np.concatenate(firsts)
    order = np.argsort(first_rows)
    number = np.empty(made, dtype=np.int64)
    number[order] = np.arange(made, dtype=np.int64)
    return number[codes], first_rows[order]


def _group_series(column: BoundColumn, budget: Budget) -> pl.Series:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return pl.Series(ids)
        case ValueColumn(series):
            return pl.repeat(0, len(series), eager=True) if series.dtype == pl.Null else series
        case ObjectColumn(values):
            codes: dict[object, int] = {}
            # row loop: cells are Python objects
            made = [codes.setdefault(group_key(value), len(codes)) for value in watched(values, budget)]
            return pl.Series(made, dtype=pl.Int64)


def sort_order(columns: Sequence[BoundColumn], descending: Sequence[bool], height: int, budget: Budget) -> Ids:
    """The row numbers in sorted order, ``int64[height]``: by the first column, ties by the next, then as they came.

    Order across types is that of `values.order_key`; nulls are last ascending, first descending.

    Raises:
        BudgetError: the budget ran out.
    """
    if not columns or height < 2:
        return np.arange(height, dtype=np.int64)
    if len(columns) == 1 and (order := _order_of_numbers(columns[0], descending[0])) is not None:
        return order
    frame = pl.DataFrame({f"key {number}": _sort_series(column, budget) for number, column in enumerate(columns)})
    if height > _MANY_ROWS:
        return _order_in_parts(frame, list(descending), budget)
    return _order(frame, list(descending))


def _order_of_numbers(column: BoundColumn, descending: bool) -> Ids | None:
    """The order of some numbers without nulls; starting polars for them takes longer than sorting."""
    if not isinstance(column, ValueColumn) or column.series.dtype not in (pl.Int64(), pl.Float64()):
        return None
    if len(column.series) > _FEW_NUMBERS or column.series.null_count():
        return None
    values = column.series.to_numpy()
    if column.series.dtype == pl.Float64():
        return None if np.isnan(values).any() else np.argsort(-values if descending else values, kind="stable")
    return np.argsort(~values if descending else values, kind="stable")  # ~ turns the order of all int64 round


def _order(frame: pl.DataFrame, flags: list[bool]) -> Ids:
    order = pl.arg_sort_by(
        frame.columns, descending=flags, nulls_last=[not flag for flag in flags], maintain_order=True
    )
    return frame.select(order.alias("order"))["order"].to_numpy().astype(np.int64)


def _order_in_parts(frame: pl.DataFrame, flags: list[bool], budget: Budget) -> Ids:
    """What `_order` gives, found part by part: a sample of the first key cuts its values into ranges."""
    first, height = frame.to_series(0), frame.height
    step = -(-height // _SAMPLE)
    sample = first.gather_every(step).drop_nulls().sort()
    cuts = sample.gather_every(max(1, len(sample) * (_ROWS_AT_ONCE // 2) // height)).unique().sort()
    place = np.empty(height, dtype=np.int32)
    for start in range(0, height, _ROWS_AT_ONCE):
        budget.check()
        cells = first.slice(start, _ROWS_AT_ONCE)
        found = cuts.search_sorted(cells, side="right").to_numpy().astype(np.int32)
        if cells.null_count():
            found[cells.is_null().to_numpy()] = len(cuts) + 1  # last, and first in descending order
        place[start : start + _ROWS_AT_ONCE] = found
    budget.check()
    if flags[0]:
        place = len(cuts) + 1 - place
    by_place = np.argsort(place, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(place, minlength=len(cuts) + 2))))
    parts: list[Ids] = []
    for start, stop in pairwise(bounds.tolist()):
        budget.check()
        rows = by_place[start:stop]
        if len(rows):
            parts.append(rows[_order(frame[rows.astype(np.uint32)], flags)])
    return np.concatenate(parts)


def _sort_series(column: BoundColumn, budget: Budget) -> pl.Series:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            series = pl.Series(ids)
            return series.set(series < 0, None)
        case ValueColumn(series) if series.dtype == pl.Null:
            return pl.repeat(0, len(series), eager=True)
        case ValueColumn(series) if not isinstance(series.dtype, pl.List):
            return series
        case ValueColumn(series):
            codes, first_rows = group_codes([column], len(series), budget)
            distinct = series.gather(first_rows).to_list()
            return _ranks(distinct, budget).gather(codes)
        case ObjectColumn(values):
            return _ranks(values, budget)


def _ranks(values: Sequence[object], budget: Budget) -> pl.Series:
    """The dense rank of each cell. Row loop: cells are Python objects."""
    keys = [order_key(value) for value in watched(values, budget)]
    rank_of: dict[tuple[object, ...], int] = {}
    for key in watched(_in_order(keys, budget), budget):
        rank_of.setdefault(key, len(rank_of))
    return pl.Series([rank_of[key] for key in watched(keys, budget)], dtype=pl.Int64)


def _in_order(keys: list[tuple[object, ...]], budget: Budget) -> Iterable[tuple[object, ...]]:
    """The keys sorted; many of them range by range, so that the budget is looked at in between."""
    if len(keys) <= _KEYS_AT_ONCE:
        return sorted(keys)  # type: ignore[type-var]
    sample = sorted(keys[:: -(-len(keys) // _SAMPLE)])  # type: ignore[type-var]
    cuts = sample[:: max(1, len(sample) * (_KEYS_AT_ONCE // 2) // len(keys))]
    parts: list[list[tuple[object, ...]]] = [[] for _ in range(len(cuts) + 1)]
    for key in watched(keys, budget):
        parts[bisect_right(cuts, key)].append(key)  # type: ignore[type-var]
    return chain.from_iterable(sorted(part) for part in parts)  # type: ignore[type-var]
