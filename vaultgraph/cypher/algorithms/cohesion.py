"""How tightly nodes hang together: core numbers, triangles and clustering, by whole columns.

Called by algorithms/calls. Relationships have no direction here, parallel ones are one, loops are none.
"""

from typing import Final

import numpy as np

from vaultgraph.cypher.algorithms.subgraph import Reals, Subgraph, adjacency, neighbours
from vaultgraph.cypher.budget import Budget
from vaultgraph.graph.columns import Ids

_WEDGES: Final = 2_000_000  # tried at once


def coreness(part: Subgraph, budget: Budget) -> Ids:
    """The largest k such that the node is in a part where each has k neighbours within it: ``int64[n]``."""
    graph = neighbours(part, "both", budget)
    degrees = np.diff(graph.offsets)
    cores = np.zeros(part.size, dtype=np.int64)
    left = np.ones(part.size, dtype=np.bool_)
    core = 0
    while len(rest := np.flatnonzero(left)):
        core = max(core, int(degrees[rest].min()))
        peeled = rest[degrees[rest] <= core]
        while len(peeled):
            budget.check()
            cores[peeled] = core
            left[peeled] = False
            _, beside = graph.expand(peeled)
            beside, lost = np.unique(beside[left[beside]], return_counts=True)
            degrees[beside] -= lost
            peeled = beside[degrees[beside] <= core]
    return cores


def triangles(part: Subgraph, budget: Budget) -> tuple[Ids, Reals]:
    """In how many triangles each node is, and which part of its pairs of neighbours are neighbours of each other."""
    size = part.size
    graph = neighbours(part, "both", budget)
    degrees = np.diff(graph.offsets)
    sources, targets = np.repeat(np.arange(size, dtype=np.int64), degrees), graph.ids
    # each pair once, from the node with fewer neighbours: then no node has more than √(2m) of them
    ahead = (degrees[sources] < degrees[targets]) | ((degrees[sources] == degrees[targets]) & (sources < targets))
    sources, targets = sources[ahead], targets[ahead]
    onward = adjacency(sources, targets, size)
    keys = sources * size + targets
    counts = np.zeros(size, dtype=np.int64)
    wedges = np.cumsum(np.diff(onward.offsets)[targets])
    first = 0
    while first < len(sources):
        budget.check()
        before = wedges[first - 1] if first else 0
        stop = max(first + 1, int(np.searchsorted(wedges, before + _WEDGES)))
        rows, third = onward.expand(targets[first:stop])
        rows += first
        wanted = sources[rows] * size + third
        slots = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        closed = keys[slots] == wanted
        for corner in (sources[rows], targets[rows], third):
            counts += np.bincount(corner[closed], minlength=size)
        first = stop
    pairs = degrees * (degrees - 1)
    return counts, 2 * counts / np.maximum(pairs, 1)
