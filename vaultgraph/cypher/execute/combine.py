"""Operators with more than one input: joins, OPTIONAL MATCH and UNION, and stacking bindings.

Called by execute/run, which runs the inputs; an inner plan is handed in as a function.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.execute.bindings import (
    Bindings,
    BoundColumn,
    NodeColumn,
    RelationshipColumn,
    ValueColumn,
)
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import concat, take, take_rows
from vaultgraph.cypher.execute.grouping import group_codes
from vaultgraph.cypher.operators import Join, Optional
from vaultgraph.errors import BudgetError
from vaultgraph.graph.columns import Ids


def join(plan: Join, left: Bindings, right: Bindings, context: Context) -> Bindings:
    """Every pair of rows, or those with equal keys; ordered by the left row, then the right one."""
    if plan.equal:
        left_rows, right_rows = _equal_pairs(plan, left, right, context)
    else:
        _check_pairs(left, right, left.height * right.height, context)
        left_rows = np.repeat(np.arange(left.height, dtype=np.int64), right.height)
        right_rows = np.tile(np.arange(right.height, dtype=np.int64), left.height)
    first = left if left.height == len(left_rows) and right.height == 1 else take_rows(left, left_rows)
    second = right if right.height == len(right_rows) and left.height == 1 else take_rows(right, right_rows)
    return Bindings(len(left_rows), {**first.columns, **second.columns})


def _check_pairs(left: Bindings, right: Bindings, count: int, context: Context) -> None:
    if count > context.budget.most_rows and left.height > 1 and right.height > 1:
        raise BudgetError(
            f"{left.height:,} rows beside {right.height:,} rows make {count:,}, over the cap of "
            f"{context.budget.most_rows:,}: nothing joins them. Join them by a relationship or by an equality such as "
            "a.key = b.key, or make one side smaller first: WITH … LIMIT."
        )
    context.budget.check(count, 8 * count * (len(left.columns) + len(right.columns)))


def _equal_pairs(plan: Join, left: Bindings, right: Bindings, context: Context) -> tuple[Ids, Ids]:
    """The pairs of rows whose keys fall into one group; the filter above decides where ``=`` is stricter."""
    lefts = [evaluate(expression, left, context) for expression, _ in plan.equal]
    rights = [evaluate(expression, right, context) for _, expression in plan.equal]
    both = [concat([one, other]) for one, other in zip(lefts, rights, strict=True)]
    codes, _ = group_codes(both, left.height + right.height, context.budget)
    left_rows = np.flatnonzero(~_any_null(lefts, left.height))
    right_rows = np.flatnonzero(~_any_null(rights, right.height))
    right_codes = codes[left.height + right_rows]
    order = np.argsort(right_codes, kind="stable")
    sorted_codes = right_codes[order]
    starts = np.searchsorted(sorted_codes, codes[left_rows], side="left")
    counts = np.searchsorted(sorted_codes, codes[left_rows], side="right") - starts
    total = int(counts.sum())
    _check_pairs(left, right, total, context)
    slots = np.arange(total, dtype=np.int64) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
    return np.repeat(left_rows, counts), right_rows[order[slots]]


def _any_null(columns: Iterable[BoundColumn], height: int) -> npt.NDArray[np.bool_]:
    found = np.zeros(height, dtype=np.bool_)
    for column in columns:
        match column:
            case NodeColumn(ids) | RelationshipColumn(ids):
                found |= ids < 0
            case ValueColumn(series):
                found |= series.is_null().to_numpy()
            case _:
                # row loop: cells are Python objects
                found |= np.array([value is None for value in column.values], dtype=np.bool_)
    return found


def with_row(bindings: Bindings, row: str) -> Bindings:
    """The bindings and the number of each row in column ``row``."""
    numbers = ValueColumn(pl.Series(np.arange(bindings.height, dtype=np.int64)))
    return Bindings(bindings.height, {**bindings.columns, row: numbers})


def rows_of(bindings: Bindings, row: str) -> Ids:
    """The row numbers that `with_row` gave, after an inner plan; ``int64[height]``."""
    column = bindings.columns[row]
    if not isinstance(column, ValueColumn) or not len(column.series):
        return np.zeros(0, dtype=np.int64)
    return column.series.to_numpy().astype(np.int64, copy=False)


def optional(plan: Optional, bindings: Bindings, run_inner: Callable[[Bindings], Bindings]) -> Bindings:
    """What the inner plan makes of each row, in the order of the rows; where it makes nothing, the row with nulls."""
    made = run_inner(with_row(bindings, plan.row))
    rows = rows_of(made, plan.row)
    is_lost = np.ones(bindings.height, dtype=np.bool_)
    is_lost[rows] = False
    lost = np.flatnonzero(is_lost)
    found = np.arange(len(rows), dtype=np.int64)
    if len(lost):
        rows = np.concatenate((rows, lost))
        found = np.concatenate((found, np.full(len(lost), -1, dtype=np.int64)))
    if len(rows) > 1 and not (rows[1:] >= rows[:-1]).all():
        order = np.argsort(rows, kind="stable")
        rows, found = rows[order], found[order]
    outer = take_rows(bindings, rows)
    inner = {name: take(made.columns[name], found) for name in plan.introduced}
    return Bindings(len(rows), {**outer.columns, **inner})


def stack(parts: Sequence[Bindings], names: Iterable[str] | None = None) -> Bindings:
    """The rows of all parts below one another; columns by name."""
    chosen = parts[0].columns if names is None else names
    columns = {name: concat([part.columns[name] for part in parts]) for name in chosen}
    return Bindings(sum(part.height for part in parts), columns)
