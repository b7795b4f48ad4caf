"""Shortest ways from one node: how far, in how many steps, and the ways themselves where they are asked for.

Called by algorithms/calls. Without weights a breadth-first walk over columns, with weights Dijkstra's algorithm.
"""

from dataclasses import dataclass

import numpy as np

from vaultgraph.cypher.algorithms import library
from vaultgraph.cypher.algorithms.options import Options
from vaultgraph.cypher.algorithms.subgraph import Reals, Subgraph, adjacency
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.values import PathRef
from vaultgraph.graph.columns import Ids

_BYTES_A_STEP = 80  # of a path: two numbers and their places


@dataclass(frozen=True, slots=True)
class Routes:
    """``places``: the nodes reached, nearest first, then by steps and id; of each its distance and steps from the
    start. ``before`` and ``by``, by node: the node before it on one shortest way and the relationship between, -1 for
    the start and what is not reached."""

    places: Ids
    distances: Reals
    steps: Ids
    before: Ids
    by: Ids


def shortest_routes(part: Subgraph, options: Options, start: int, budget: Budget) -> Routes:
    """The shortest ways from ``start`` to all it reaches; of equally short ones one with the fewest steps."""
    sources, targets, weights = part.arcs(options.direction)
    relationships = part.relationships
    if options.direction == "both":
        relationships = np.concatenate([relationships, relationships[part.sources != part.targets]])
    budget.check(len(sources), 48 * len(sources))
    lengths = None
    if part.weights is not None:
        lengths = library.distances(sources, targets, weights, part.size, start, budget)
        tight = np.isfinite(lengths[sources]) & (lengths[sources] + weights == lengths[targets])
        sources, targets, relationships = sources[tight], targets[tight], relationships[tight]
    keys = sources * part.size + targets
    if not bool((keys[1:] >= keys[:-1]).all()):
        order = np.argsort(keys, kind="stable")  # stable: parallel relationships stay in the order of their ids
        sources, targets, relationships = sources[order], targets[order], relationships[order]
    steps, before, by = _walk(sources, targets, relationships, part.size, start, budget)
    places = np.flatnonzero(steps >= 0)
    distances = steps.astype(np.float64) if lengths is None else lengths
    order = np.lexsort((places, steps[places], distances[places]))
    places = places[order]
    return Routes(places, distances[places], steps[places], before, by)


def _walk(
    sources: Ids, targets: Ids, relationships: Ids, size: int, start: int, budget: Budget
) -> tuple[Ids, Ids, Ids]:
    """Steps from ``start`` (-1: not reached), the node before and the relationship between, over arcs sorted by source.

    Of several ways in, the one from the lowest node by the lowest relationship.
    """
    slots = adjacency(sources, np.arange(len(sources), dtype=np.int64), size)
    steps, before, by = (np.full(size, -1, dtype=np.int64) for _ in range(3))
    steps[start] = 0
    level, depth = np.array([start], dtype=np.int64), 0
    while len(level):
        budget.check()
        depth += 1
        _, arcs = slots.expand(level)
        arcs = arcs[steps[targets[arcs]] < 0]
        level, firsts = np.unique(targets[arcs], return_index=True)
        arcs = arcs[firsts]
        steps[level], before[level], by[level] = depth, sources[arcs], relationships[arcs]
    return steps, before, by


def paths_to(part: Subgraph, routes: Routes, places: Ids, steps: Ids, budget: Budget) -> list[object]:
    """The way to each of ``places`` as a path.

    Raises:
        BudgetError: together they are too long.
    """
    budget.check(len(places), _BYTES_A_STEP * int((steps + 1).sum()))
    before, by, nodes = routes.before.tolist(), routes.by.tolist(), part.nodes.tolist()
    found: list[object] = []
    # row loop: paths are Python values; the budget above bounds them all
    for place in places.tolist():
        budget.check()
        way, relationships = [nodes[place]], list[int]()
        while before[place] >= 0:
            relationships.append(by[place])
            place = before[place]
            way.append(nodes[place])
        found.append(PathRef(tuple(reversed(way)), tuple(reversed(relationships))))
    return found
