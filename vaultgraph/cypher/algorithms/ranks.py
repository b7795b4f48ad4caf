"""Scores that flow along relationships: PageRank and degrees, by sums over whole columns.

Called by algorithms/calls.
"""

import numpy as np

from vaultgraph.cypher.algorithms.options import Options
from vaultgraph.cypher.algorithms.subgraph import Reals, Subgraph, sums
from vaultgraph.cypher.budget import Budget
from vaultgraph.graph.columns import Ids


def pagerank(part: Subgraph, options: Options, starts: Ids, budget: Budget) -> Reals:
    """PageRank, ``float64[n]`` with sum 1: parallel relationships add up, what has no way out gives to all alike.

    ``starts``: the nodes to which the walk jumps back, all where there are none (personalised PageRank).
    """
    size = part.size
    if not size:
        return np.zeros(0)
    sources, targets, weights = part.arcs(options.direction)
    budget.check(len(sources), 40 * len(sources))
    totals = sums(sources, weights, size)
    shares = weights / np.where(totals > 0, totals, 1.0)[sources]
    ends = totals == 0
    jumps = np.full(size, 1 / size)
    if len(starts):
        jumps = np.zeros(size)
        jumps[starts] = 1 / len(starts)
    ranks = jumps.copy()
    for _ in range(options.iterations):
        budget.check()
        flow = sums(targets, shares * ranks[sources], size)
        fresh = options.damping * (flow + ranks[ends].sum() * jumps) + (1 - options.damping) * jumps
        change = float(np.abs(fresh - ranks).sum())
        ranks = fresh
        if change <= options.tolerance:
            break
    return ranks


def degrees(part: Subgraph, options: Options) -> tuple[Ids, Reals]:
    """How many relationships each node has, and the sum of their weights; a loop counts once."""
    sources, _, weights = part.arcs(options.direction)
    return np.bincount(sources, minlength=part.size), sums(sources, weights, part.size)
