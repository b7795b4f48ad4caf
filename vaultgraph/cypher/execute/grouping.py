"""Which rows are equal and which comes first: the numbers of groups, and the order of rows.

Called by the operators that group, join and sort. Typed columns are left to polars; mixed cells get a number each.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, ObjectColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.rows import watched
from vaultgraph.cypher.values import group_key, order_key
from vaultgraph.graph.columns import Ids


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
    frame = pl.DataFrame(keys).with_row_index("row")
    groups = frame.group_by(list(keys), maintain_order=True).agg("row")["row"]
    rows = groups.explode(empty_as_null=False).to_numpy()
    codes = np.empty(height, dtype=np.int64)
    codes[rows] = np.repeat(np.arange(len(groups), dtype=np.int64), groups.list.len().to_numpy())
    return codes, groups.list.first().to_numpy().astype(np.int64)


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
    frame = pl.DataFrame({f"key {number}": _sort_series(column, budget) for number, column in enumerate(columns)})
    flags = list(descending)
    order = pl.arg_sort_by(
        frame.columns, descending=flags, nulls_last=[not flag for flag in flags], maintain_order=True
    )
    return frame.select(order.alias("order"))["order"].to_numpy().astype(np.int64)


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
    for key in sorted(keys):  # type: ignore[type-var]
        rank_of.setdefault(key, len(rank_of))
    return pl.Series([rank_of[key] for key in keys], dtype=pl.Int64)
