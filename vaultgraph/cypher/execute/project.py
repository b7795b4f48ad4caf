"""Operators that work row by row: filtering, projecting, keeping columns and unwinding lists.

Called by execute/run. Columns are taken only where rows really go away.
"""

from itertools import chain
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values, filter_rows, from_values, take, take_rows
from vaultgraph.cypher.operators import Extend, Keep, Project, Unwind
from vaultgraph.cypher.syntax import Expression, FunctionCall
from vaultgraph.cypher.values import is_list
from vaultgraph.graph.columns import Ids

_LONG: Final = 10_000
_AT_ONCE: Final = 1_000_000


def filter_bindings(bindings: Bindings, predicate: Expression, context: Context) -> Bindings:
    """The rows where the predicate is true.

    Raises:
        EvaluationError: the predicate is neither boolean nor null in some row.
    """
    mask = filter_rows(evaluate(predicate, bindings, context), context.text, predicate.at)
    positions = np.flatnonzero(mask)
    return bindings if len(positions) == bindings.height else take_rows(bindings, positions)


def extend(plan: Extend, bindings: Bindings, context: Context) -> Bindings:
    """The columns there are, and the new ones."""
    made = {name: evaluate(expression, bindings, context) for name, expression in plan.items}
    return Bindings(bindings.height, {**bindings.columns, **made})


def project(plan: Project, bindings: Bindings, context: Context) -> Bindings:
    """Only the new columns."""
    made = {name: evaluate(expression, bindings, context) for name, expression in plan.items}
    return Bindings(bindings.height, made)


def keep(plan: Keep, bindings: Bindings) -> Bindings:
    """Only the columns named."""
    return Bindings(bindings.height, {name: bindings.columns[name] for name in plan.names})


def unwind(plan: Unwind, bindings: Bindings, context: Context) -> Bindings:
    """A row for each item of the list of each row; null and the empty list give none, any other value gives itself."""
    positions, items = _numbers(plan.source, bindings, context) or _items(
        evaluate(plan.source, bindings, context), context
    )
    context.budget.check(len(positions), 8 * len(positions) * len(bindings.columns))
    rows = take_rows(bindings, positions, [name for name in bindings.columns if name != plan.variable])
    return Bindings(rows.height, {**rows.columns, plan.variable: items})


def _numbers(source: Expression, bindings: Bindings, context: Context) -> tuple[Ids, BoundColumn] | None:
    """Of one row and a long ``range(…)`` what `_items` gives, without a Python list of it."""
    match source:
        case FunctionCall(name, (first, last, *more)) if bindings.height == 1 and name.lower() == "range":
            ends = [column_values(evaluate(one, bindings, context))[0] for one in (first, last, *more)]
            if not all(type(end) is int for end in ends) or len(ends) > 3:
                return None
            start, stop, step = (*ends, 1)[:3]
            assert isinstance(start, int)
            assert isinstance(stop, int)
            assert isinstance(step, int)
            count = (stop - start) // step + 1 if step else 0
            if not _LONG <= count <= context.budget.most_rows:
                return None  # short, or refused where all is
            context.budget.check(size=16 * count)
            numbers = np.empty(count, dtype=np.int64)
            for at in range(0, count, _AT_ONCE):
                context.budget.check()
                part = np.arange(at, min(at + _AT_ONCE, count), dtype=np.int64)
                numbers[at : at + _AT_ONCE] = part * step + start
            return np.zeros(count, dtype=np.int64), ValueColumn(pl.Series(numbers))
        case _:
            return None


def _items(column: BoundColumn, context: Context) -> tuple[Ids, BoundColumn]:
    """The row each item comes from, and the items."""
    if isinstance(column, ValueColumn) and isinstance(column.series.dtype, pl.List):
        lengths = column.series.list.len().fill_null(0).to_numpy().astype(np.int64)
        context.budget.check(int(lengths.sum()))
        filled = np.flatnonzero(lengths)
        flat = column.series.gather(filled).explode() if len(filled) else column.series.clear().explode()
        return np.repeat(np.arange(len(lengths), dtype=np.int64), lengths), ValueColumn(flat)
    # row loop: lists of nodes, maps or mixed values are Python objects; as many as there are items
    values = column_values(column)
    if not any(isinstance(value, list) for value in values):
        positions = np.array([row for row, value in enumerate(values) if value is not None], dtype=np.int64)
        return positions, take(column, positions)
    lists = [value if is_list(value) else [] if value is None else [value] for value in values]
    lengths = np.array([len(items) for items in lists], dtype=np.int64)
    context.budget.check(int(lengths.sum()))
    return np.repeat(np.arange(len(lists), dtype=np.int64), lengths), from_values(list(chain.from_iterable(lists)))
