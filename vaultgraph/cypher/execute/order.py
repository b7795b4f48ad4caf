"""ORDER BY, SKIP and LIMIT.

Called by execute/run. Sorting orders row numbers first and takes the columns once, for the rows that stay.
"""

from collections.abc import Callable

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.combine import stack
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values, slice_rows, take_rows
from vaultgraph.cypher.execute.grouping import sort_order
from vaultgraph.cypher.operators import Keys, LimitPieces, Sort, TopK
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.values import type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids

_MANY_TIMES = 4  # the rows wanted are looked for without sorting where there are more than so many times as many
_FIRST_PIECE = 16
_PIECE_GROWTH = 8


def sort(plan: Sort, bindings: Bindings, context: Context) -> Bindings:
    """All rows in order."""
    return take_rows(bindings, _order(plan.keys, bindings, context))


def top(plan: TopK, bindings: Bindings, context: Context) -> Bindings:
    """The rows of one window of the order."""
    start = 0 if plan.skip is None else row_count("SKIP", plan.skip, context)
    stop = start + row_count("LIMIT", plan.limit, context)
    if stop * _MANY_TIMES < bindings.height:
        (expression, descending), *_ = plan.keys
        rows = _first_rows(evaluate(expression, bindings, context), stop, descending=descending)
        if rows is not None:
            bindings = take_rows(bindings, rows)
    return take_rows(bindings, _order(plan.keys, bindings, context)[start:stop])


def _first_rows(column: BoundColumn, count: int, *, descending: bool) -> Ids | None:
    """The rows, in order, whose number can be among the first ``count``; None where the column has other values."""
    if not count or not isinstance(column, ValueColumn) or column.series.null_count():
        return None
    if not column.series.dtype.is_numeric():
        return None
    values = column.series.to_numpy()
    if column.series.dtype == pl.Float64() and bool(np.isnan(values).any()):
        return None
    place = len(values) - count if descending else count - 1
    least = np.partition(values, place)[place]
    return np.flatnonzero(values >= least if descending else values <= least)


def _order(keys: Keys, bindings: Bindings, context: Context) -> Ids:
    columns = [evaluate(expression, bindings, context) for expression, _ in keys]
    return sort_order(columns, [descending for _, descending in keys], bindings.height, context.budget)


def skip(count: Expression, bindings: Bindings, context: Context) -> Bindings:
    """The rows after the first ``count``."""
    return window(bindings, row_count("SKIP", count, context), bindings.height)


def limit(count: Expression, bindings: Bindings, context: Context) -> Bindings:
    """The first ``count`` rows."""
    return window(bindings, 0, row_count("LIMIT", count, context))


def window(bindings: Bindings, start: int, stop: int) -> Bindings:
    """Rows ``start`` … ``stop - 1`` as far as there are any."""
    if start <= 0 and stop >= bindings.height:
        return bindings
    start = min(start, bindings.height)
    return slice_rows(bindings, start, max(start, min(stop, bindings.height)))


def limit_pieces(
    plan: LimitPieces, bindings: Bindings, context: Context, run_pipeline: Callable[[Bindings], Bindings]
) -> Bindings:
    """The first rows of a pipeline, run over pieces of its input that grow until there are enough."""
    wanted = row_count("LIMIT", plan.count, context)
    found: list[Bindings] = []
    start, size, total = 0, _FIRST_PIECE, 0
    while start < bindings.height and total < wanted:
        made = run_pipeline(window(bindings, start, start + size))
        found.append(made)
        total += made.height
        start, size = start + size, size * _PIECE_GROWTH
    if not found:
        found.append(run_pipeline(window(bindings, 0, 0)))
    return window(found[0] if len(found) == 1 else stack(found), 0, wanted)


def row_count(word: str, count: Expression, context: Context) -> int:
    """The value of SKIP or LIMIT.

    Raises:
        EvaluationError: it is not an integer, or negative.
    """
    value = column_values(evaluate(count, Bindings(1, {}), context))[0]
    if isinstance(value, bool) or not isinstance(value, int):
        raise EvaluationError(f"{word} takes an integer, not {type_name(value)}.", context.text, *count.at)
    if value < 0:
        raise EvaluationError(f"{word} cannot be negative, and this is {value}.", context.text, *count.at)
    return value
