"""Counting the ways to each node a hop reaches: the rows of Expand, merged by their end, without making them.

Called by execute/run. Works on a weight for every node of the graph: one pass over the relationships at most, and only
over the nodes where every source has the same weight.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.estimate import chosen_tables
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.expand import node_ids
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.execute.scan import label_mask
from vaultgraph.cypher.operators import Tally
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.csr import Csr

_EXACT: Final = 2**53  # floats count one by one up to here
_FEW: Final = 4  # expand from the sources where they have less than a quarter of all hops

Weights = npt.NDArray[Any]  # Int64, or Float64 while that is exact


def tally(plan: Tally, bindings: Bindings, context: Context) -> Bindings:
    """One row a node reached, ascending, with the number of ways there: Int64.

    Raises:
        EvaluationError: a source is no node.
        BudgetError: the budget ran out.
    """
    graph = context.graph
    context.budget.check(graph.node_count, 16 * graph.node_count)
    weights = _weights(plan, bindings, context)
    counts: Weights = np.zeros(graph.node_count, dtype=weights.dtype)
    # row loop: one step a relationship type
    for table in chosen_tables(graph, plan.types):
        context.budget.check(0, 16 * len(table.sources))
        if plan.direction != "in":
            _spread(weights, table.outgoing, table.incoming, counts)
        if plan.direction != "out":
            _spread(weights, table.incoming, table.outgoing, counts)
        if plan.direction == "both":
            loops = table.sources[table.sources == table.targets]
            np.subtract.at(counts, loops, weights[loops])
    ids = np.flatnonzero(counts)
    if plan.labels is not None:
        ids = ids[label_mask(graph, ids, plan.labels)]
    ways = ValueColumn(pl.Series(counts[ids].astype(np.int64)))
    return Bindings(len(ids), {plan.target: NodeColumn(ids), plan.column: ways})


def _weights(plan: Tally, bindings: Bindings, context: Context) -> Weights:
    """How often each node of the graph is a source; floats while they are exact for every count they lead to."""
    ids = node_ids(bindings, plan.source)
    count = context.graph.node_count
    if plan.weight is None:
        return np.bincount(ids[ids >= 0], minlength=count).astype(np.int64)
    column = evaluate(plan.weight, bindings, context)
    values: Ids
    if isinstance(column, ValueColumn) and column.series.dtype == pl.Int64:
        values = column.series.to_numpy()
    else:
        values = np.array(column_values(column), dtype=np.int64)
    valid = ids >= 0
    total = int(values.max(initial=0)) * len(values) * max(context.graph.relationship_count, 1)
    if total < _EXACT:
        return np.bincount(ids[valid], weights=values[valid], minlength=count)
    weights = np.zeros(count, dtype=np.int64)
    np.add.at(weights, ids[valid], values[valid])
    return weights


def _spread(weights: Weights, csr: Csr, back: Csr, counts: Weights) -> None:
    """Add to ``counts`` of each node the weights of the nodes from which ``csr`` leads there; ``back`` leads back."""
    covered: Weights = weights[csr.first : csr.first + len(csr.offsets) - 1]
    if not len(csr.neighbours) or not covered.any():
        return
    if (covered == covered[0]).all():
        counts[back.first : back.first + len(back.offsets) - 1] += covered[0] * np.diff(back.offsets)
        return
    degrees: Ids = np.diff(csr.offsets).astype(np.int64)
    some: Ids = np.flatnonzero(covered)
    if int(degrees[some].sum()) * _FEW < len(csr.neighbours):
        positions, neighbours, _ = csr.expand(some.astype(np.int64) + csr.first)
        _add(counts, neighbours, covered[some][positions])
    else:
        _add(counts, csr.neighbours, np.repeat(covered, degrees))


def _add(counts: Weights, nodes: Ids | npt.NDArray[np.uint32], weights: Weights) -> None:
    if counts.dtype == np.int64 and weights.dtype == np.int64 and int(weights.max(initial=0)) * len(weights) >= _EXACT:
        np.add.at(counts, nodes, weights)
        return
    if len(nodes):
        first = int(nodes.min())
        added = np.bincount(nodes - nodes.dtype.type(first), weights=weights)
        counts[first : first + len(added)] += added.astype(counts.dtype)
