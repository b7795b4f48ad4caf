"""Nodes in groups: connected components, weak and strong, and communities by modularity.

Called by algorithms/calls. Groups are numbered by size, the largest first, and then by their first node.
"""

from typing import Final

import numpy as np

from vaultgraph.cypher.algorithms import library
from vaultgraph.cypher.algorithms.options import Options
from vaultgraph.cypher.algorithms.subgraph import Reals, Subgraph, sums
from vaultgraph.cypher.budget import Budget
from vaultgraph.graph.columns import Ids

_ROUNDS: Final = 60  # of moves within one level
_LEVELS: Final = 30
_PATIENCE: Final = 3  # rounds without a gain before a level ends
_PATIENCE_OF_FEW: Final = 16  # the same for few nodes: two that swap places gain nothing until one of them rests
_FEW: Final = 1000
_LEAST_GAIN: Final = 1e-7  # of modularity


def numbered(groups: Ids) -> tuple[Ids, Ids]:
    """Group numbers and group sizes of each node, ``int64[n]`` both, from any numbers that tell groups apart."""
    _, firsts, codes, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((firsts, -sizes))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order), dtype=np.int64)
    return places[codes], sizes[codes].astype(np.int64)


def components(part: Subgraph, options: Options, budget: Budget) -> Ids:
    """A number for each node, equal for nodes that are connected (that reach each other where ``strong``)."""
    if options.strong:
        return library.strong_components(part.sources, part.targets, part.size, budget)
    return _connected(part.sources, part.targets, part.size, budget)


def _connected(sources: Ids, targets: Ids, size: int, budget: Budget) -> Ids:
    """The least node of each node's component: labels sink along relationships and then along themselves."""
    labels = np.arange(size, dtype=np.int64)
    while True:
        budget.check()
        here, there = labels[sources], labels[targets]
        apart = here != there
        if not apart.any():
            return labels
        sources, targets, here, there = sources[apart], targets[apart], here[apart], there[apart]
        np.minimum.at(labels, np.maximum(here, there), np.minimum(here, there))
        while not np.array_equal(deeper := labels[labels], labels):
            labels = deeper


def communities(part: Subgraph, options: Options, budget: Budget) -> Ids:
    """A number for each node, equal within a community (Louvain's method, half of the nodes moving at once).

    Relationships have no direction; weights of parallel ones add up. Which half moves is drawn from ``seed``. A
    community hangs together: one that does not is cut into its parts at the end.
    """
    size = part.size
    sources, targets, weights = part.arcs("both")
    weights = np.where(sources == targets, 2 * weights, weights)  # a loop has two ends at its node
    if not len(sources) or float(weights.sum()) == 0:
        return np.arange(size, dtype=np.int64)
    groups = np.arange(size, dtype=np.int64)
    arcs = _merged(sources, targets, weights, size, budget)
    random = np.random.default_rng(options.seed)
    for _ in range(_LEVELS):
        found = _moved(arcs, int(groups.max()) + 1, random, budget)
        names, codes = np.unique(found, return_inverse=True)
        if len(names) == len(found):
            break
        groups = codes[groups]
        arcs = _merged(codes[arcs[0]], codes[arcs[1]], arcs[2], len(names), budget)
    within = (groups[part.sources] == groups[part.targets]) & (part.weights is None or part.weights > 0)
    return _connected(part.sources[within], part.targets[within], size, budget)


def _merged(sources: Ids, targets: Ids, weights: Reals, size: int, budget: Budget) -> tuple[Ids, Ids, Reals]:
    """Arcs sorted by their ends, equal ones as one with the sum of their weights."""
    budget.check(len(sources), 40 * len(sources))
    keys = sources * size + targets
    keys, weights = _summed(keys, weights)
    return keys // size, keys % size, weights


def _summed(keys: Ids, amounts: Reals) -> tuple[Ids, Reals]:
    """The distinct keys, ascending, and the sum of the amounts of each; in one order, so that sums never differ."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))[: len(keys)]
    return keys[starts], np.add.reduceat(amounts[order], starts) if len(starts) else amounts


def _moved(arcs: tuple[Ids, Ids, Reals], size: int, random: np.random.Generator, budget: Budget) -> Ids:
    """Each node's community after moves that raise modularity, starting with each node alone: ``int64[size]``."""
    sources, targets, weights = arcs
    strengths = sums(sources, weights, size)
    whole = float(weights.sum())
    apart = sources != targets
    sources, targets, weights = sources[apart], targets[apart], weights[apart]
    groups = best = np.arange(size, dtype=np.int64)
    start = most = _modularity(arcs, groups, strengths, whole)
    patience = _PATIENCE_OF_FEW if size < _FEW else _PATIENCE
    idle, restless = 0, np.ones(size, dtype=np.bool_)
    for _ in range(_ROUNDS):
        budget.check()
        moving = restless & (random.random(size) < 0.5)
        chosen = np.flatnonzero(moving[sources])
        fresh = _round(sources[chosen], targets[chosen], weights[chosen], groups, strengths, whole)
        # whoever has weighed its place rests until a neighbour moves
        moved = fresh != groups
        restless &= ~moving
        restless[targets[moved[sources]]] = True
        groups = fresh
        score = _modularity(arcs, groups, strengths, whole)
        idle = 0 if score > most + _LEAST_GAIN else idle + 1
        if score > most:
            best, most = groups, score
        if idle == patience:
            break
        if not restless.any():
            restless[:] = True
    return best if most > start + _LEAST_GAIN else np.arange(size, dtype=np.int64)


def _round(sources: Ids, targets: Ids, weights: Reals, groups: Ids, strengths: Reals, whole: float) -> Ids:
    """The groups after every node among ``sources`` went where it gains most, all at once."""
    size = len(groups)
    totals = sums(groups, strengths, size)
    # a pair with weight 0 for the own group, so that staying is weighed too
    movers = sources[np.flatnonzero(np.concatenate([[True], sources[1:] != sources[:-1]]))[: len(sources)]]
    keys = np.concatenate([sources * size + groups[targets], movers * size + groups[movers]])
    keys, ties = _summed(keys, np.concatenate([weights, np.zeros(len(movers))]))
    nodes, wanted = keys // size, keys % size
    own = wanted == groups[nodes]
    gains = ties - strengths[nodes] * (totals[wanted] - np.where(own, strengths[nodes], 0)) / whole
    gains += np.where(own, 1e-12 * whole, 0)  # nobody moves for nothing
    starts = np.flatnonzero(np.concatenate([[True], nodes[1:] != nodes[:-1]]))[: len(nodes)]
    if not len(starts):
        return groups
    best = np.repeat(np.maximum.reduceat(gains, starts), np.diff(np.append(starts, len(nodes))))
    rows = np.flatnonzero(gains == best)[::-1]  # of equal gains the lowest group is written last
    moved = groups.copy()
    moved[nodes[rows]] = wanted[rows]
    return moved


def _modularity(arcs: tuple[Ids, Ids, Reals], groups: Ids, strengths: Reals, whole: float) -> float:
    sources, targets, weights = arcs
    inside = float(weights[groups[sources] == groups[targets]].sum())
    totals = sums(groups, strengths, len(groups))
    return inside / whole - float((totals * totals).sum()) / whole / whole
