"""One hop: gathering neighbours over the adjacency of the relationship types, and its cheaper relatives.

Called by execute/run and execute/paths. Rows keep the order of the input; the hops of one row are ordered by type,
then neighbour.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.estimate import chosen_tables
from vaultgraph.cypher.execute.bindings import (
    Bindings,
    BoundColumn,
    NodeColumn,
    ObjectColumn,
    RelationshipColumn,
    ValueColumn,
)
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import column_values, height_of, take_rows
from vaultgraph.cypher.execute.scan import label_mask
from vaultgraph.cypher.operators import Direction, Expand, ExpandBound
from vaultgraph.cypher.values import NodeRef, RelationshipRef, type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph, RelationshipTable, tables_of

Hops = tuple[Ids, Ids, Ids]  # (position in the ids asked, neighbour, global relationship id), ordered by position

_FEW = 64  # below this many nodes the rows about to be made are not counted first
_IDS_AT_ONCE = 500_000
_HOPS_AT_ONCE = 500_000
_BACK: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


def hops_from(tables: Sequence[RelationshipTable], direction: Direction, ids: Ids, budget: Budget) -> Hops:
    """All hops from ``ids`` (repeats and -1 allowed); in both directions a loop counts once.

    Raises:
        BudgetError: they are more than the budget allows.
    """
    if len(ids) > _FEW:
        count = _count(tables, direction, ids, budget)
        budget.check(count, 24 * count)
        if count > _HOPS_AT_ONCE:
            return _hops_in_parts(tables, direction, ids, budget)
    return _hops(tables, direction, ids, budget)


def _hops_in_parts(tables: Sequence[RelationshipTable], direction: Direction, ids: Ids, budget: Budget) -> Hops:
    stops = np.cumsum(hop_counts(tables, direction, ids))
    cuts = np.unique(np.searchsorted(stops, np.arange(_HOPS_AT_ONCE, int(stops[-1]), _HOPS_AT_ONCE), side="right"))
    parts: list[Hops] = []
    for start, stop in pairwise((0, *cuts[cuts > 0].tolist(), len(ids))):
        budget.check()
        positions, neighbours, relationships = _hops(tables, direction, ids[start:stop], budget)
        parts.append((positions + start, neighbours, relationships))
    positions, neighbours, relationships = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return positions, neighbours, relationships


def _hops(tables: Sequence[RelationshipTable], direction: Direction, ids: Ids, budget: Budget) -> Hops:
    parts: list[Hops] = []
    for table in tables:
        budget.check()
        if direction != "in":
            positions, neighbours, rows = table.outgoing.expand(ids)
            parts.append((positions, neighbours, rows + table.first))
        if direction != "out":
            positions, neighbours, rows = table.incoming.expand(ids)
            if direction == "both":
                once = neighbours != ids[positions]
                if not once.all():
                    positions, neighbours, rows = positions[once], neighbours[once], rows[once]
            parts.append((positions, neighbours, rows + table.first))
    parts = [part for part in parts if len(part[0])]
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, empty
    if len(parts) == 1:
        return parts[0]
    positions, neighbours, relationships = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    if len(ids) == 1:
        return positions, neighbours, relationships
    order = np.argsort(positions, kind="stable")
    return positions[order], neighbours[order], relationships[order]


def _count(tables: Iterable[RelationshipTable], direction: Direction, ids: Ids, budget: Budget) -> int:
    total = 0
    for table in tables:
        for start in range(0, len(ids), _IDS_AT_ONCE):
            budget.check()
            part = ids[start : start + _IDS_AT_ONCE]
            if direction != "in":
                total += int(table.outgoing.degrees(part).sum())
            if direction != "out":
                total += int(table.incoming.degrees(part).sum())
    return total


def hop_counts(tables: Iterable[RelationshipTable], direction: Direction, ids: Ids) -> Ids:
    """How many hops lead from each of ``ids``, a loop twice in both directions; ``int64[len(ids)]``."""
    counts = np.zeros(len(ids), dtype=np.int64)
    for table in tables:
        if direction != "in":
            counts += table.outgoing.degrees(ids)
        if direction != "out":
            counts += table.incoming.degrees(ids)
    return counts


def expand(plan: Expand, bindings: Bindings, context: Context) -> Bindings:
    """One row for each hop from the source of each row that ends where and is what it must."""
    graph = context.graph
    tables = chosen_tables(graph, plan.types)
    sources = node_ids(bindings, plan.source)
    if plan.is_bound:
        positions, neighbours, relationships = _between(
            tables, plan.direction, sources, node_ids(bindings, plan.target), context.budget
        )
    else:
        positions, neighbours, relationships = hops_from(tables, plan.direction, sources, context.budget)
    kept = allowed_hops(graph, bindings, plan.unlike, positions, relationships)
    if plan.labels is not None:
        fitting = label_mask(graph, neighbours, plan.labels)
        kept = fitting if kept is None else kept & fitting
    if kept is not None and not kept.all():
        positions, neighbours, relationships = positions[kept], neighbours[kept], relationships[kept]
    context.budget.check(len(positions), 8 * len(positions) * len(bindings.columns))
    columns = dict(take_rows(bindings, positions).columns)
    if not plan.is_bound:
        columns[plan.target] = NodeColumn(neighbours)
    if plan.relationship is not None:
        columns[plan.relationship] = RelationshipColumn(relationships)
    return Bindings(len(positions), columns)


def _between(
    tables: Sequence[RelationshipTable], direction: Direction, sources: Ids, targets: Ids, budget: Budget
) -> Hops:
    """The hops of each row from its source to its target, found from the end that has fewer."""
    if _count(tables, direction, sources, budget) <= _count(tables, _BACK[direction], targets, budget):
        positions, neighbours, relationships = hops_from(tables, direction, sources, budget)
        kept = neighbours == targets[positions]
    else:
        positions, neighbours, relationships = hops_from(tables, _BACK[direction], targets, budget)
        kept = neighbours == sources[positions]
    return positions[kept], targets[positions[kept]], relationships[kept]


def allowed_hops(
    graph: Graph, bindings: Bindings, unlike: Iterable[str], positions: Ids, relationships: Ids
) -> npt.NDArray[np.bool_] | None:
    """Which hops repeat none of the relationships in the columns ``unlike`` of their row; None where all are right."""
    kept: npt.NDArray[np.bool_] | None = None
    for name in unlike:
        column = bindings.columns[name]
        if isinstance(column, ValueColumn):
            differs = _not_in_trail(graph, column.series, positions, relationships)
        else:
            differs = relationship_ids(column)[positions] != relationships
        kept = differs if kept is None else kept & differs
    return kept


def _not_in_trail(graph: Graph, trails: pl.Series, positions: Ids, relationships: Ids) -> npt.NDArray[np.bool_]:
    """A row number and a relationship as one number, so that one membership test answers for all rows."""
    lengths = trails.list.len().to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(trails), dtype=np.int64), lengths)
    if not len(rows):
        return np.ones(len(positions), dtype=np.bool_)
    size = graph.relationship_count
    flat = trails.filter(pl.Series(lengths > 0)).explode().to_numpy()
    return np.isin(positions * size + relationships, rows * size + flat, invert=True)


def expand_bound(plan: ExpandBound, bindings: Bindings, context: Context) -> Bindings:
    """The two ends of a relationship at hand, as source and target; null and other types give no row."""
    ids = relationship_ids(bindings.columns[plan.relationship])
    sources = np.full(len(ids), -1, dtype=np.int64)
    targets = sources.copy()
    for table, positions in tables_of(context.graph, ids):
        if not plan.types or table.type in plan.types:
            rows = ids[positions] - table.first
            sources[positions], targets[positions] = table.sources[rows], table.targets[rows]
    positions = np.flatnonzero(sources >= 0)
    starts, ends = sources[positions], targets[positions]
    if plan.direction == "in":
        starts, ends = ends, starts
    elif plan.direction == "both":
        turned = starts != ends
        positions = np.concatenate((positions, positions[turned]))
        starts, ends = np.concatenate((starts, ends[turned])), np.concatenate((ends, starts[turned]))
        order = np.argsort(positions, kind="stable")
        positions, starts, ends = positions[order], starts[order], ends[order]
    kept = np.ones(len(positions), dtype=np.bool_)
    if plan.source == plan.target:
        kept &= starts == ends
    elif plan.target_is_bound:
        kept &= node_ids(bindings, plan.target)[positions] == ends
    if plan.source_is_bound:
        kept &= node_ids(bindings, plan.source)[positions] == starts
    rows = take_rows(bindings, positions[kept])
    made = {plan.source: NodeColumn(starts[kept]), plan.target: NodeColumn(ends[kept])}
    return Bindings(rows.height, {**rows.columns, **made})


def node_ids(bindings: Bindings, name: str) -> Ids:
    """The node of each row in column ``name`` as an id, ``int64[height]``; -1 is null.

    Raises:
        EvaluationError: a cell is something else.
    """
    column = bindings.columns[name]
    if isinstance(column, NodeColumn):
        return column.ids
    ids = np.full(bindings.height, -1, dtype=np.int64)
    if isinstance(column, ValueColumn) and column.series.null_count() == bindings.height:
        return ids
    # row loop: cells are Python objects, or the first wrong one is looked for
    for row, value in enumerate(column_values(column)):
        if isinstance(value, NodeRef):
            ids[row] = value.id
        elif value is not None:
            raise EvaluationError(f"A pattern goes through nodes, and '{name}' is a {type_name(value)} in some row.")
    return ids


def relationship_ids(column: BoundColumn) -> Ids:
    """The relationship of each row as an id, ``int64[height]``; -1 is null or something else."""
    if isinstance(column, RelationshipColumn):
        return column.ids
    ids = np.full(height_of(column), -1, dtype=np.int64)
    if isinstance(column, ObjectColumn):
        # row loop: cells are Python objects
        for row, value in enumerate(column.values):
            if isinstance(value, RelationshipRef):
                ids[row] = value.id
    return ids
