"""Leaves of a plan: nodes by label, nodes by the value of one property, and counting nodes.

Called by execute/run. A label is a few ranges of ids; a seek compares a property column as it lies, without gathering.
"""

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.estimate import label_ranges
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.execute.project import filter_bindings
from vaultgraph.cypher.operators import CountNodes, ScanNodes, SeekNodes
from vaultgraph.cypher.syntax import Binary, Comparison, LabelExpression, Property, Variable
from vaultgraph.graph.columns import VARIANT, Ids, Segment
from vaultgraph.graph.graph import Graph
from vaultgraph.note.records import ValueKind


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


def seek_nodes(plan: SeekNodes, context: Context) -> Bindings:
    """The nodes whose property is a constant text or in a constant list of texts, ascending; others are filtered."""
    value = column_values(evaluate(plan.value, Bindings(1, {}), context), context.graph)[0]
    wanted = value if plan.many and isinstance(value, list) else None if plan.many else [value]
    if wanted is None or not all(isinstance(one, str) for one in wanted):  # pyright: ignore[reportUnknownVariableType]
        subject = Property(Variable(plan.variable, at=plan.value.at), plan.key, at=plan.value.at)
        predicate = (
            Binary("IN", subject, plan.value, at=plan.value.at)
            if plan.many
            else Comparison(subject, (("=", plan.value),), at=plan.value.at)
        )
        return filter_bindings(scan_nodes(ScanNodes(plan.variable, plan.labels), context), predicate, context)
    texts = pl.Series(wanted, dtype=pl.String)  # pyright: ignore[reportUnknownArgumentType]
    column = context.graph.node_columns.get(plan.key)
    parts: list[Ids] = []
    if column is not None and len(texts):
        for first, stop in label_ranges(context.graph, plan.labels):
            parts += [_found(segment, first, stop, texts) for segment in column.segments]
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return Bindings(len(ids), {plan.variable: NodeColumn(ids)})


def _found(segment: Segment, first: int, stop: int, texts: pl.Series) -> Ids:
    """The ids of the segment within ``first`` … ``stop - 1`` whose cell is one of ``texts``."""
    low, high = max(first, segment.first), min(stop, segment.stop)
    if low >= high:
        return np.zeros(0, dtype=np.int64)
    series = segment.series
    if low > segment.first or high < segment.stop:
        series = series.slice(low - segment.first, high - low)
    if series.dtype == VARIANT:
        is_text = series.struct.field("kind") == ValueKind.TEXT
        mask = _is_one_of(series.struct.field("text"), texts) & is_text
    elif series.dtype == pl.String:
        mask = _is_one_of(series, texts)
    else:
        return np.zeros(0, dtype=np.int64)
    return mask.arg_true().to_numpy().astype(np.int64) + low


def _is_one_of(series: pl.Series, texts: pl.Series) -> pl.Series:
    return series == texts[0] if len(texts) == 1 else series.is_in(texts)
