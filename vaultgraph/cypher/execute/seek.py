"""Nodes by the values of properties: through sorted indexes, or by comparing one column as it lies.

Called by execute/run. What neither can do is left to the filters that it stands for.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.estimate import label_ranges
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate_constant
from vaultgraph.cypher.execute.project import filter_bindings
from vaultgraph.cypher.execute.scan import scan_nodes
from vaultgraph.cypher.execute.unlike_times import warn_of_sought
from vaultgraph.cypher.operators import ScanNodes, SeekIndex, SeekNodes, Sought
from vaultgraph.cypher.syntax import Binary, Comparison, Expression, Property, Variable
from vaultgraph.cypher.values import is_list
from vaultgraph.graph.columns import VARIANT, Column, Ids
from vaultgraph.graph.sorted_index import Bound, SortedIndex
from vaultgraph.note.records import ValueKind

_MOST_ITEMS: Final = 1_000  # of a list; from there on the column is looked through once for all of them
_FEW_ROWS: Final = 64
_SHARE: Final = 16  # where more than one node in so many fits, comparing the column is faster


def seek_index(plan: SeekIndex, context: Context) -> Bindings:
    """The nodes that fit, ascending: those of the narrowest index, filtered by what else is sought."""
    ranges = label_ranges(context.graph, plan.labels)
    most = max(_FEW_ROWS, sum(stop - first for first, stop in ranges) // _SHARE)
    best: Ids | None = None
    used: list[Expression] = []
    for key, sought in _by_key(plan.sought).items():
        index = None if context.facts is None else context.facts.index(ranges, key)
        ids = None if index is None else _indexed(index, sought, most, context)
        if ids is not None and (best is None or len(ids) < len(best)):
            best, used, most = ids, _whole(sought, plan.sought), len(ids)
    if best is None:
        return _without_index(plan, context)
    return _filtered(Bindings(len(best), {plan.variable: NodeColumn(best)}), plan, used, context)


def _by_key(sought: Sequence[Sought]) -> dict[str, list[Sought]]:
    if len(sought) == 1:
        return {sought[0].key: [sought[0]]}
    found: dict[str, list[Sought]] = {}
    for one in sought:
        found.setdefault(one.key, []).append(one)
    return found


def _whole(sought: Sequence[Sought], every: Iterable[Sought]) -> list[Expression]:
    """The predicates of which nothing is left when ``sought`` is seen to."""
    left = [one.predicate for one in every if not any(one is other for other in sought)]
    return [one.predicate for one in sought if not any(one.predicate is other for other in left)]


def _indexed(index: SortedIndex, sought: Sequence[Sought], most: int, context: Context) -> Ids | None:
    bounds: list[Bound] = []
    found: Ids | None = None
    for one in sought:
        value = evaluate_constant(one.value, context)
        if one.by != "IN":
            bounds.append((one.by, value))
            continue
        ids = _any_of(index, value)
        if ids is None:
            return None
        found = ids if found is None else np.intersect1d(found, ids, assume_unique=True)
    if bounds:
        ids = index.find(bounds, most)
        if ids is None:
            return None
        found = ids if found is None else np.intersect1d(found, ids, assume_unique=True)
    return found


def _any_of(index: SortedIndex, values: object) -> Ids | None:
    if not is_list(values) or len(values) > _MOST_ITEMS:
        return None
    parts: list[Ids] = []
    for value in values:
        if value is not None:
            ids = index.find((("=", value),))
            if ids is None:
                return None
            parts.append(ids)
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)


def _filtered(rows: Bindings, plan: SeekIndex, done: list[Expression], context: Context) -> Bindings:
    seen = list(done)  # compared by identity: the predicates x = 1 and x = true are equal in Python
    for one in plan.sought:
        if not any(one.predicate is other for other in seen):
            rows = filter_bindings(rows, one.predicate, context)
            seen.append(one.predicate)
    return rows


def _without_index(plan: SeekIndex, context: Context) -> Bindings:
    for one in plan.sought:
        if one.by in ("=", "IN"):
            rows = seek_nodes(SeekNodes(plan.variable, plan.labels, one.key, one.value, one.by == "IN"), context)
            return _filtered(rows, plan, _whole((one,), plan.sought), context)
    return _filtered(scan_nodes(ScanNodes(plan.variable, plan.labels), context), plan, [], context)


def seek_nodes(plan: SeekNodes, context: Context) -> Bindings:
    """The nodes whose property is a constant text or in a constant list of texts, ascending; others are filtered."""
    value = evaluate_constant(plan.value, context)
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
