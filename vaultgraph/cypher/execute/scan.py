"""Leaves of a plan: nodes by label, nodes by the value of one property, and counting nodes.

Called by execute/run. A label is a few ranges of ids; a seek compares a property column as it lies, without gathering.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.estimate import label_ranges
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.execute.project import filter_bindings
from vaultgraph.cypher.execute.unlike_times import warn_of_sought
from vaultgraph.cypher.operators import CountNodes, ScanNodes, SeekNodes
from vaultgraph.cypher.syntax import Binary, Comparison, LabelExpression, Property, Variable
from vaultgraph.cypher.values import is_list
from vaultgraph.graph.columns import VARIANT, Column, Ids
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
    value = column_values(evaluate(plan.value, Bindings(1, {}), context))[0]
    wanted = value if plan.many else [value]
    if not is_list(wanted) or not all(isinstance(one, str) for one in wanted):
        subject = Property(Variable(plan.variable, at=plan.value.at), plan.key, at=plan.value.at)
        predicate = (
            Binary("IN", subject, plan.value, at=plan.value.at)
            if plan.many
            else Comparison(subject, (("=", plan.value),), at=plan.value.at)
        )
        return filter_bindings(scan_nodes(ScanNodes(plan.variable, plan.labels), context), predicate, context)
    texts = pl.Series(wanted, dtype=pl.String)
    column = context.graph.node_columns.get(plan.key)
    ids = np.zeros(0, dtype=np.int64)
    if column is not None and len(texts):
        ids = _found(column, label_ranges(context.graph, plan.labels), texts)
        if not len(ids):
            _warn_of_times(plan, column, texts, context)
    return Bindings(len(ids), {plan.variable: NodeColumn(ids)})


def _warn_of_times(plan: SeekNodes, column: Column, texts: pl.Series, context: Context) -> None:
    for segment in column.segments:
        if segment.series.dtype.is_temporal():
            warn_of_sought(plan.variable, plan.key, texts, segment.series.dtype, context)
            return


def _found(column: Column, ranges: Sequence[tuple[int, int]], texts: pl.Series) -> Ids:
    """The ids within ``ranges`` whose cell is one of ``texts``; all segments are compared in one go."""
    firsts: list[int] = []
    parts: list[pl.Series] = []
    for first, stop in ranges:
        for segment in column.segments:
            low, high = max(first, segment.first), min(stop, segment.stop)
            series = _texts_of(segment.series) if low < high else None
            if series is not None:
                firsts.append(low)
                whole = low == segment.first and high == segment.stop
                parts.append(series if whole else series.slice(low - segment.first, high - low))
    if not parts:
        return np.zeros(0, dtype=np.int64)
    series = pl.concat(parts, rechunk=False) if len(parts) > 1 else parts[0]
    mask = series == texts[0] if len(texts) == 1 else series.is_in(texts)
    hits = np.flatnonzero(mask.fill_null(value=False).to_numpy() if mask.null_count() else mask.to_numpy())
    before = np.cumsum([0, *(len(part) for part in parts[:-1])])
    chosen = np.searchsorted(before, hits, side="right") - 1
    return hits - before[chosen] + np.array(firsts, dtype=np.int64)[chosen]


def _texts_of(series: pl.Series) -> pl.Series | None:
    """The cells that are texts, null elsewhere; None where none can be."""
    if series.dtype == VARIANT:
        is_text = series.struct.field("kind") == ValueKind.TEXT
        return series.struct.field("text").set(~is_text, None)
    return series if series.dtype == pl.String else None
