"""Grouping: aggregates over groups of equal rows, and DISTINCT.

Called by execute/run. What an aggregate does with its values is in functions/aggregate_rows.
"""

import numpy as np

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import take, take_rows
from vaultgraph.cypher.execute.grouping import group_codes
from vaultgraph.cypher.functions.aggregate_rows import aggregate
from vaultgraph.cypher.operators import Aggregate
from vaultgraph.cypher.syntax import CountStar, FunctionCall
from vaultgraph.graph.columns import Ids


def aggregate_rows(plan: Aggregate, bindings: Bindings, context: Context) -> Bindings:
    """One row a group, in the order in which groups first appear; without keys one row, also of no rows."""
    keys = {name: evaluate(expression, bindings, context) for name, expression in plan.keys}
    if keys:
        groups, first_rows = group_codes(list(keys.values()), bindings.height, context.budget)
        count = len(first_rows)
        columns = {name: take(column, first_rows) for name, column in keys.items()}
    else:
        groups, count, columns = np.zeros(bindings.height, dtype=np.int64), 1, {}
    for name, call in plan.calls:
        columns[name] = _aggregated(call, bindings, groups, count, context)
    return Bindings(count, columns)


def _aggregated(
    call: FunctionCall | CountStar, bindings: Bindings, groups: Ids, count: int, context: Context
) -> BoundColumn:
    if isinstance(call, CountStar):
        return aggregate("count", False, None, (), groups, count, context, call.at)
    column, *extra = (evaluate(argument, bindings, context) for argument in call.arguments)
    return aggregate(call.name.lower(), call.distinct, column, tuple(extra), groups, count, context, call.at)


def distinct(bindings: Bindings, context: Context) -> Bindings:
    """The first of equal rows, in order."""
    if bindings.height < 2:
        return bindings
    _, first_rows = group_codes(list(bindings.columns.values()), bindings.height, context.budget)
    return bindings if len(first_rows) == bindings.height else take_rows(bindings, first_rows)
