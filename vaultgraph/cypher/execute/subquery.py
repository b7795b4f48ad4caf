"""The operators of subqueries, which run once for all rows of the query around them.

Called by execute/run, which runs the inner plan. A column of row numbers says which row each row of a subquery belongs
to; what is counted, limited or missing is so for each number by itself.
"""

from collections.abc import Callable

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.aggregate import aggregate_rows
from vaultgraph.cypher.execute.bindings import Bindings, ValueColumn
from vaultgraph.cypher.execute.combine import rows_of, stack, with_row
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import nulls, take, take_rows
from vaultgraph.cypher.execute.order import row_count
from vaultgraph.cypher.operators import Aggregate, Apply, EmptyGroups, LimitEach, Start
from vaultgraph.cypher.trees import variables_of


def apply(plan: Apply, bindings: Bindings, run_inner: Callable[[Bindings], Bindings]) -> Bindings:
    """What the inner plan makes of each row, in the order of the rows; the rows themselves for a unit subquery."""
    made = run_inner(with_row(bindings, plan.row))
    if plan.kind == "unit":
        return bindings
    rows = rows_of(made, plan.row)
    found = np.arange(len(rows), dtype=np.int64)
    if len(rows) > 1 and not (rows[1:] >= rows[:-1]).all():
        found = np.argsort(rows, kind="stable")
        rows = rows[found]
    outer = take_rows(bindings, rows)
    inner = {name: take(made.columns[name], found) for name in plan.introduced}
    return Bindings(len(rows), {**outer.columns, **inner})


def limit_each(plan: LimitEach, bindings: Bindings, context: Context) -> Bindings:
    """The rows of one window for each row number, in the order they have."""
    start = 0 if plan.skip is None else row_count("SKIP", plan.skip, context)
    count = bindings.height if plan.limit is None else row_count("LIMIT", plan.limit, context)
    rows = rows_of(bindings, plan.row)
    order = np.argsort(rows, kind="stable")
    together = rows[order]
    rank = np.empty(len(rows), dtype=np.int64)
    rank[order] = np.arange(len(rows)) - np.searchsorted(together, together, side="left")
    return take_rows(bindings, np.flatnonzero((rank >= start) & (rank < start + count)))


def empty_groups(plan: EmptyGroups, bindings: Bindings, argument: Bindings | None, context: Context) -> Bindings:
    """The groups there are, then one for each row number without."""
    if argument is None:
        return bindings
    is_missing = np.ones(argument.height, dtype=np.bool_)
    numbers = rows_of(argument, plan.row)
    is_missing[np.isin(numbers, rows_of(bindings, plan.row))] = False
    missing = np.flatnonzero(is_missing)
    if not len(missing):
        return bindings
    read = {name: nulls(0) for _, call in plan.calls for name in variables_of(call)}
    made = aggregate_rows(Aggregate(Start(), (), plan.calls), Bindings(0, read), context)
    first = np.zeros(len(missing), dtype=np.int64)
    columns = {name: take(made.columns[name], first) for name, _ in plan.calls}
    columns |= {name: take(argument.columns[name], missing) for name in plan.carried}
    columns[plan.row] = ValueColumn(pl.Series(numbers[missing]))
    return stack([bindings, Bindings(len(missing), columns)], bindings.columns)
