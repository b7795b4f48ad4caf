"""Variable-length patterns, shortest paths and path values, level by level over whole arrays.

Called by execute/run. A trail repeats no relationship; that and the budget are what end an unbounded pattern.
"""

from itertools import pairwise
from typing import Final

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
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.expand import Hops, allowed_hops, hop_counts, hops_from, node_ids, relationship_ids
from vaultgraph.cypher.execute.fetch import column_values, filter_rows, height_of, take_rows
from vaultgraph.cypher.execute.rows import watched
from vaultgraph.cypher.execute.scan import label_mask
from vaultgraph.cypher.operators import BuildPath, ExpandVariable, ShortestPaths, Trails
from vaultgraph.cypher.trees import variables_of
from vaultgraph.cypher.values import PathRef, RelationshipRef
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph, tables_of

MOST_AT_ONCE: Final = 1_000_000
"""Ways of one length that are looked through for nodes not seen before; with more, fewer rows are worked on."""
_FEW_TRAILS: Final = 64
_HOPS_AT_ONCE: Final = 250_000
_MOST_FLAGS: Final = 8_000_000  # of eight bytes each
_REFERENCE_BYTES: Final = 80  # a relationship in a list, a step in a path: Python objects


@frozen
class Level:
    """Trails of one length: the row each started from, the node it has reached, its relationships.

    ``origins`` and ``nodes``: ``int64[k]``; ``trail``: ``int64[length, k]``, first relationship first.
    """

    origins: Ids
    nodes: Ids
    trail: npt.NDArray[np.int64]

    def where(self, kept: npt.NDArray[np.bool_] | Ids | slice) -> "Level":
        """Some of the trails, by mask, positions or range."""
        return Level(self.origins[kept], self.nodes[kept], self.trail[:, kept])


def expand_variable(plan: ExpandVariable, bindings: Bindings, context: Context) -> Bindings:
    """One row for each trail from the source of each row that has a right length and ends where it must.

    Raises:
        BudgetError: there are too many trails.
    """
    trails, graph = plan.trails, context.graph
    targets = node_ids(bindings, plan.target) if plan.is_bound else None
    is_shown = trails.column is not None or trails.relationships is not None
    level = first_level(node_ids(bindings, plan.source))
    found: list[Level] = []
    length = total = size = 0
    while True:
        if length >= trails.least:
            ended = _ended(level, targets, plan, graph)
            found.append(ended if is_shown else Level(ended.origins, ended.nodes, ended.trail[:0]))
            total += len(ended.origins)
            size += 8 * len(ended.origins) * (len(found[-1].trail) + len(bindings.columns) + 2)
            context.budget.check(total, size)
        if (trails.most is not None and length >= trails.most) or not len(level.origins):
            break
        level = next_level(level, trails, plan.unlike, bindings, context)
        length += 1
    origins = np.concatenate([level.origins for level in found]) if found else np.zeros(0, dtype=np.int64)
    nodes = np.concatenate([level.nodes for level in found]) if found else origins
    order = np.argsort(origins, kind="stable")
    columns = dict(take_rows(bindings, origins[order]).columns)
    if not plan.is_bound:
        columns[plan.target] = NodeColumn(nodes[order])
    columns.update(_trail_columns(trails, found, order, context.budget))
    return Bindings(len(origins), columns)


def first_level(sources: Ids) -> Level:
    """Trails without a hop, one for each row that is not null."""
    origins = np.flatnonzero(sources >= 0)
    return Level(origins, sources[origins], np.zeros((0, len(origins)), dtype=np.int64))


def _ended(level: Level, targets: Ids | None, plan: ExpandVariable, graph: Graph) -> Level:
    if targets is not None:
        level = level.where(level.nodes == targets[level.origins])
    if plan.labels is not None:
        level = level.where(label_mask(graph, level.nodes, plan.labels))
    return level


def next_level(level: Level, trails: Trails, unlike: tuple[str, ...], bindings: Bindings, context: Context) -> Level:
    """All trails one relationship longer.

    Raises:
        BudgetError: they are too many.
    """
    if len(level.nodes) <= _FEW_TRAILS:
        return _longer(level, trails, unlike, bindings, context)
    context.budget.check()
    counts = hop_counts(chosen_tables(context.graph, trails.types), trails.direction, level.nodes)
    stops = np.cumsum(counts)
    total = int(stops[-1])
    cuts = np.searchsorted(stops, np.arange(_HOPS_AT_ONCE, total, _HOPS_AT_ONCE), side="right")
    if not len(cuts):
        return _longer(level, trails, unlike, bindings, context)
    parts: list[Level] = []
    made = 0
    for start, stop in pairwise((0, *np.unique(cuts[cuts > 0]).tolist(), len(counts))):
        part = _longer(level.where(slice(start, stop)), trails, unlike, bindings, context)
        parts.append(part)
        made += len(part.nodes)
        context.budget.check(made, 16 * made * (len(part.trail) + 2))
    return Level(
        np.concatenate([part.origins for part in parts]),
        np.concatenate([part.nodes for part in parts]),
        np.concatenate([part.trail for part in parts], axis=1),
    )


def _longer(level: Level, trails: Trails, unlike: tuple[str, ...], bindings: Bindings, context: Context) -> Level:
    tables = chosen_tables(context.graph, trails.types)
    positions, neighbours, relationships = hops_from(tables, trails.direction, level.nodes, context.budget)
    length = len(level.trail)
    context.budget.check(len(positions), 8 * len(positions) * (length + 5))  # a longer trail takes more memory
    origins = level.origins[positions]
    kept = np.ones(len(positions), dtype=np.bool_)
    for step in level.trail:
        kept &= step[positions] != relationships
    differs = allowed_hops(context.graph, bindings, unlike, origins, relationships)
    if differs is not None:
        kept &= differs
    positions, neighbours, relationships = _kept((positions, neighbours, relationships), kept)
    if trails.each is not None:
        names = [name for name in variables_of(trails.each) if name in bindings.columns]
        rows = take_rows(bindings, level.origins[positions], names)
        hops = Bindings(rows.height, {**rows.columns, trails.hop: RelationshipColumn(relationships)})
        kept = filter_rows(evaluate(trails.each, hops, context), context.text, trails.each.at)
        positions, neighbours, relationships = _kept((positions, neighbours, relationships), kept)
    trail = np.concatenate((level.trail[:, positions], relationships[np.newaxis, :]))
    return Level(level.origins[positions], neighbours, trail)


def _kept(hops: Hops, mask: npt.NDArray[np.bool_]) -> Hops:
    if mask.all():
        return hops
    positions, neighbours, relationships = hops
    return positions[mask], neighbours[mask], relationships[mask]


def _trail_columns(trails: Trails, found: list[Level], order: Ids, budget: Budget) -> dict[str, BoundColumn]:
    """The columns that hold the relationships of each trail, as far as they are asked for."""
    if trails.column is None and trails.relationships is None:
        return {}
    parts = [_as_lists(level.trail[::-1] if trails.is_reversed else level.trail) for level in found]
    lists = pl.concat(parts) if parts else pl.Series([], dtype=pl.List(pl.Int64))
    lists = lists.gather(order)
    columns: dict[str, BoundColumn] = {}
    if trails.column is not None:
        columns[trails.column] = ValueColumn(lists)
    if trails.relationships is not None:
        budget.check(size=_REFERENCE_BYTES * sum(level.trail.size for level in found))
        # row loop: a list of relationships is a Python object; bounded by the budget of trails
        values: list[object] = [[RelationshipRef(one) for one in trail] for trail in watched(lists.to_list(), budget)]
        columns[trails.relationships] = ObjectColumn(values)
    return columns


def _as_lists(trail: npt.NDArray[np.int64]) -> pl.Series:
    """The columns of ``int64[length, k]`` as k lists."""
    length, height = trail.shape
    if not length or not height:
        return pl.Series([[]] * height, dtype=pl.List(pl.Int64))
    flat = pl.Series(np.ascontiguousarray(trail.T).ravel())
    return flat.reshape((height, length)).arr.to_list()


def shortest_paths(plan: ShortestPaths, bindings: Bindings, context: Context) -> Bindings | None:
    """One row for the (or every) shortest trail from source to target of each row; none where there is no trail.

    None where the rows lead to too much to be worked on at once.
    """
    trails = plan.trails
    targets = node_ids(bindings, plan.target)
    level = first_level(node_ids(bindings, plan.source))
    visited = _Visited(bindings.height, max(context.graph.node_count, 1), level)
    found: list[Level] = []
    length = 0
    if trails.least == 0:
        found.append(level.where(level.nodes == targets[level.origins]))
        level = level.where(level.nodes != targets[level.origins])
    while len(level.origins) and (trails.most is None or length < trails.most):
        level = next_level(level, trails, (), bindings, context)
        if len(level.origins) > MOST_AT_ONCE and bindings.height > 1:
            return None
        length += 1
        level = level.where(visited.fresh(level, every=plan.every))
        context.budget.check()
        hit = level.nodes == targets[level.origins]
        found.append(level.where(hit))
        is_done = np.zeros(bindings.height, dtype=np.bool_)
        is_done[level.origins[hit]] = True
        level = level.where(~is_done[level.origins])
    origins = np.concatenate([level.origins for level in found]) if found else np.zeros(0, dtype=np.int64)
    order = np.argsort(origins, kind="stable")
    columns = dict(take_rows(bindings, origins[order]).columns)
    columns.update(_trail_columns(trails, found, order, context.budget))
    return Bindings(len(origins), columns)


class _Visited:
    """The nodes that trails from each row have reached: a flag each where that is affordable, else sorted keys."""

    def __init__(self, rows: int, nodes: int, level: Level) -> None:
        self._size = nodes
        self._firsts = np.zeros(rows * nodes, dtype=np.int64) if rows * nodes <= _MOST_FLAGS else None
        self._keys = np.sort(self._keys_of(level))
        if self._firsts is not None:
            self._firsts[self._keys] = -1

    def fresh(self, level: Level, *, every: bool) -> Ids:
        """Which trails end at a node that no shorter one from their row reached, ascending; the first to each node
        unless ``every``. From now on those nodes are reached."""
        keys = self._keys_of(level)
        if self._firsts is None:
            fresh = np.flatnonzero(np.isin(keys, self._keys, invert=True))
            if not every:
                fresh = fresh[np.sort(np.unique(keys[fresh], return_index=True)[1])]
            self._keys = np.union1d(self._keys, keys[fresh])
            return fresh
        fresh = np.flatnonzero(self._firsts[keys] == 0)
        own = keys[fresh]
        if not every:
            self._firsts[own[::-1]] = np.arange(len(own), 0, -1, dtype=np.int64)  # the last written is the first trail
            fresh = fresh[self._firsts[own] == np.arange(1, len(own) + 1, dtype=np.int64)]
        self._firsts[own] = -1
        return fresh

    def _keys_of(self, level: Level) -> Ids:
        return level.origins * self._size + level.nodes


def build_path(plan: BuildPath, bindings: Bindings, context: Context) -> Bindings:
    """The path values: from the first node along the relationships of every step."""
    firsts = node_ids(bindings, plan.first).tolist()
    size = sum(_size(bindings.columns[name], is_trail) for name, is_trail in plan.steps)
    context.budget.check(size=_REFERENCE_BYTES * (size + bindings.height))
    steps = [_step_lists(bindings.columns[name], is_trail) for name, is_trail in plan.steps]
    far = _Ends(context.graph, steps)
    paths: list[object] = []
    # row loop: a path is a Python object; bounded by the rows there are
    for row in watched(range(bindings.height), context.budget):
        node = firsts[row]
        nodes, relationships = [node], [one for step in steps for one in step[row]]
        for one in relationships:
            node = far.other(one, node)
            nodes.append(node)
        paths.append(PathRef(tuple(nodes), tuple(relationships)))
    return Bindings(bindings.height, {**bindings.columns, plan.path: ObjectColumn(paths)})


def _size(column: BoundColumn, is_trail: bool) -> int:
    """How many references the paths hold of one step."""
    height = height_of(column)
    if not is_trail:
        return 2 * height
    lengths = column.series.list.len().sum() if isinstance(column, ValueColumn) else 0
    return height + int(lengths or 0)


def _step_lists(column: BoundColumn, is_trail: bool) -> list[list[int]]:
    if is_trail:
        values: list[list[int]] = column_values(column)  # pyright: ignore[reportAssignmentType]  a list column of ids
        return values
    return [[one] for one in relationship_ids(column).tolist()]


class _Ends:
    """Source and target of the relationships in a set of steps, looked up once."""

    def __init__(self, graph: Graph, steps: list[list[list[int]]]) -> None:
        used = np.array(sorted({one for step in steps for row in step for one in row}), dtype=np.int64)
        self._ends: dict[int, tuple[int, int]] = {}
        for table, positions in tables_of(graph, used):
            ids = used[positions]
            rows = ids - table.first
            ends = zip(table.sources[rows].tolist(), table.targets[rows].tolist(), strict=True)
            self._ends.update(zip(ids.tolist(), ends, strict=True))

    def other(self, relationship: int, node: int) -> int:
        """The end of the relationship that is not ``node`` (a loop has but one)."""
        source, target = self._ends[relationship]
        return target if source == node else source
