"""Counting hops without making them: from the adjacency's offsets, or from which far nodes fit.

Called by execute/run. A predicate of the far node is asked once a node, not once a hop.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.estimate import chosen_tables
from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.expand import hop_counts, hops_from, node_ids, relationship_ids
from vaultgraph.cypher.execute.fetch import take_rows
from vaultgraph.cypher.execute.project import filter_bindings
from vaultgraph.cypher.execute.scan import label_mask
from vaultgraph.cypher.operators import Degree
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.csr import Csr
from vaultgraph.graph.graph import Graph, tables_of

_PLACE: Final = " place"


def degree(plan: Degree, bindings: Bindings, context: Context) -> Bindings:
    """How many hops each row has, without making them; rows without any are dropped."""
    graph = context.graph
    ids = node_ids(bindings, plan.source)
    counts = _degrees_to(plan, ids, context) if plan.where else degrees_of(graph, ids, plan, context.budget)
    for name in plan.unlike:
        counts -= _repeats(graph, relationship_ids(bindings.columns[name]), ids, plan)
    positions = np.flatnonzero(counts > 0)
    rows = take_rows(bindings, positions)
    counted = ValueColumn(pl.Series(counts[positions], dtype=pl.Int64))
    return Bindings(rows.height, {**rows.columns, plan.column: counted})


def degrees_of(graph: Graph, ids: Ids, plan: Degree, budget: Budget) -> Ids:
    """The number of hops from each of ``ids`` to nodes that satisfy the labels, ``int64[len(ids)]``."""
    tables, direction = chosen_tables(graph, plan.types), plan.direction
    if plan.labels is not None:
        positions, neighbours, _ = hops_from(tables, direction, ids, budget)
        return np.bincount(positions[label_mask(graph, neighbours, plan.labels)], minlength=len(ids))
    counts = hop_counts(tables, direction, ids)
    if direction == "both":
        for table in tables:
            loops = np.sort(table.sources[table.sources == table.targets].astype(np.int64))
            counts -= np.searchsorted(loops, ids, side="right") - np.searchsorted(loops, ids, side="left")
    return counts


def _degrees_to(plan: Degree, ids: Ids, context: Context) -> Ids:
    """The number of hops from each of ``ids`` to nodes that satisfy labels and predicate, asked once a node."""
    graph = context.graph
    counts = np.zeros(len(ids), dtype=np.int64)
    for table in chosen_tables(graph, plan.types):
        context.budget.check(0, 16 * len(table.sources))
        if plan.direction != "in":
            counts += _hops_to(plan, ids, table.outgoing, table.incoming, context)
        if plan.direction != "out":
            counts += _hops_to(plan, ids, table.incoming, table.outgoing, context)
        if plan.direction == "both":
            loops = table.sources[table.sources == table.targets].astype(np.int64)
            loops = np.sort(loops[_fits(plan, loops, context)])
            counts -= np.searchsorted(loops, ids, side="right") - np.searchsorted(loops, ids, side="left")
    return counts


def _hops_to(plan: Degree, ids: Ids, csr: Csr, back: Csr, context: Context) -> Ids:
    if int(csr.degrees(ids).sum()) < len(back.offsets):
        positions, neighbours, _ = csr.expand(ids)
        return np.bincount(positions[_fits(plan, neighbours, context)], minlength=len(ids))
    ends = np.flatnonzero(np.diff(back.offsets)) + back.first
    fits = np.zeros(len(back.offsets), dtype=np.bool_)
    fits[ends - back.first] = _fits(plan, ends, context)
    if fits[ends - back.first].all():
        return csr.degrees(ids)
    # of each node's neighbours, which lie side by side, those that fit: a running count read at both ends
    running = np.zeros(len(csr.neighbours) + 1, dtype=np.uint32)
    np.cumsum(fits[csr.neighbours - np.uint32(back.first)], out=running[1:])
    per_node = np.diff(running[csr.offsets].astype(np.int64))
    local = ids - csr.first
    covered = (local >= 0) & (local < len(per_node))
    return np.where(covered, per_node[np.where(covered, local, 0)], 0)


def _fits(plan: Degree, ids: Ids, context: Context) -> npt.NDArray[np.bool_]:
    """Which of ``ids`` satisfy the labels and the predicate."""
    fits = np.ones(len(ids), dtype=np.bool_)
    if plan.labels is not None:
        fits &= label_mask(context.graph, ids, plan.labels)
    if plan.where is not None and len(ids):
        name, predicate = plan.where
        rows = Bindings(len(ids), {name: NodeColumn(ids), _PLACE: ValueColumn(pl.Series(np.arange(len(ids))))})
        kept = filter_bindings(rows, predicate, context).columns[_PLACE]
        found = np.zeros(len(ids), dtype=np.bool_)
        found[kept.series.to_numpy() if isinstance(kept, ValueColumn) else []] = True
        fits &= found
    return fits


def _repeats(graph: Graph, relationships: Ids, ids: Ids, plan: Degree) -> Ids:
    """1 where the relationship of a row is itself one of the counted hops of the node of the row, else 0."""
    found = np.zeros(len(ids), dtype=np.int64)
    for table, positions in tables_of(graph, relationships):
        if plan.types and table.type not in plan.types:
            continue
        rows = relationships[positions] - table.first
        starts, ends, nodes = table.sources[rows], table.targets[rows], ids[positions]
        match plan.direction:
            case "out":
                hit, far = starts == nodes, ends
            case "in":
                hit, far = ends == nodes, starts
            case "both":
                hit, far = (starts == nodes) | (ends == nodes), np.where(starts == nodes, ends, starts)
        if plan.labels is not None:
            hit = hit & label_mask(graph, far.astype(np.int64), plan.labels)
        found[positions] += hit
    return found
