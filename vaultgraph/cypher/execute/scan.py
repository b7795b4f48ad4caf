"""Leaves of a plan: nodes by label, nodes by the value of one property, and counting nodes.

Called by execute/run. A label is a few ranges of ids; a seek compares a property column as it lies, without gathering.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.estimate import label_ranges
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.operators import CountNodes, ScanNodes
from vaultgraph.cypher.syntax import LabelExpression
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph


def scan_nodes(plan: ScanNodes, context: Context) -> Bindings:
    """All nodes that satisfy the labels, ascending."""
    ids = nodes_with(context.graph, plan.labels)
    return Bindings(len(ids), {plan.variable: NodeColumn(ids)})


def nodes_with(graph: Graph, labels: LabelExpression | None) -> Ids:
    """The ids of the nodes that satisfy the labels, ``int64[k]``, ascending."""
    parts = [np.arange(first, stop, dtype=np.int64) for first, stop in label_ranges(graph, labels)]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def label_mask(graph: Graph, ids: Ids, labels: LabelExpression) -> npt.NDArray[np.bool_]:
    """Which of ``ids`` (valid nodes) satisfy the labels."""
    ranges = label_ranges(graph, labels)
    if not ranges:
        return np.zeros(len(ids), dtype=np.bool_)
    bounds = np.array(ranges, dtype=np.int64).ravel()  # first, stop, first, stop … ascending, so inside is odd
    return (np.searchsorted(bounds, ids, side="right") & 1).astype(np.bool_)


def count_nodes(plan: CountNodes, context: Context) -> Bindings:
    """One row with the number of nodes that satisfy the labels."""
    total = sum(stop - first for first, stop in label_ranges(context.graph, plan.labels))
    return Bindings(1, {plan.column: ValueColumn(pl.Series([total], dtype=pl.Int64))})
