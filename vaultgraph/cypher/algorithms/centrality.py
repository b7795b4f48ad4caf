"""Closeness and betweenness: from every node, or from a sample of nodes, over relationships of equal length.

Called by algorithms/calls. Both look at the budget all the time, and refuse at the start what would take hours.
"""

import time
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from vaultgraph.cypher.algorithms.options import Options
from vaultgraph.cypher.algorithms.subgraph import Neighbours, Reals, Subgraph, neighbours
from vaultgraph.cypher.budget import Budget
from vaultgraph.errors import BudgetError
from vaultgraph.graph.columns import Ids

_MOST_STEPS: Final = 2_000_000_000  # of betweenness: pivots × (relationships + nodes); about a minute
_MOST_BITS: Final = 500_000_000_000  # of closeness, which follows 64 pivots at once
_GATHERED_BYTES: Final = 64_000_000
_FIRST_LOOK: Final = 0.05  # part of the work after which its pace is trusted


@dataclass(slots=True)
class _Pace:
    """Whether the rest of the work fits into the time left, judged by what is done."""

    budget: Budget
    total: int
    began: float = field(default_factory=time.monotonic)

    def check(self, done: int) -> None:
        """Go on, or raise where the time will not do; also every time the budget does."""
        self.budget.check()
        now = time.monotonic()
        if self.budget.deadline is None or done < self.total * _FIRST_LOOK:
            return
        needed = (now - self.began) / done * (self.total - done)
        if needed > self.budget.deadline - now:
            fitting = max(1, int(done + (self.budget.deadline - now) * done / (now - self.began)) // 2)
            raise BudgetError(
                f"{self.total:,} pivots would not be done in time. Give samples: {fitting} for estimates from so many "
                "nodes, narrow the subgraph with `labels`, `types` or `nodes`, or raise timeout_ms."
            )


def pivots(size: int, options: Options) -> Ids:
    """The nodes to start from, ascending: all, or ``samples`` of them chosen by ``seed``."""
    if options.samples is None or options.samples >= size:
        return np.arange(size, dtype=np.int64)
    chosen = np.random.default_rng(options.seed).choice(size, options.samples, replace=False)
    return np.sort(chosen.astype(np.int64))


def betweenness(part: Subgraph, options: Options, budget: Budget) -> Reals:
    """Through how many of the shortest paths between two others each node lies, ``float64[n]`` (Brandes' algorithm).

    Divided by the number of pairs where ``normalized``. From a sample of pivots it is an estimate, scaled to all.
    """
    size = part.size
    graph = neighbours(part, options.direction, budget)
    starts = pivots(size, options)
    count = len(starts)
    starts = starts[graph.offsets[starts + 1] > graph.offsets[starts]]
    _check_work(len(starts) * (len(graph.ids) + size + 1000), _MOST_STEPS, len(starts))
    scores = np.zeros(size)
    pace = _Pace(budget, len(starts))
    for done, start in enumerate(starts.tolist()):
        pace.check(done)
        scores += _dependencies(graph, start, size, budget)
    scores *= size / max(count, 1)
    if options.normalized:
        return scores / max((size - 1) * (size - 2), 1)
    return scores / 2 if options.direction == "both" else scores


def _dependencies(graph: Neighbours, start: int, size: int, budget: Budget) -> Reals:
    """What the shortest paths from one node give to each node on their way."""
    depths = np.full(size, -1, dtype=np.int32)
    counts = np.zeros(size)
    depths[start], counts[start] = 0, 1
    level, steps, depth = np.array([start], dtype=np.int64), list[tuple[Ids, Ids]](), 0
    while len(level):
        budget.check()
        rows, targets = graph.expand(level)
        fresh = depths[targets] < 0
        sources, targets = level[rows[fresh]], targets[fresh]
        depth += 1
        steps.append((sources, targets))
        _add(counts, targets, counts[sources])
        depths[targets] = depth
        level = np.unique(targets)
    found = np.zeros(size)
    for sources, targets in reversed(steps):
        _add(found, sources, counts[sources] / counts[targets] * (1 + found[targets]))
    found[start] = 0
    return found


def _add(sums: Reals, places: Ids, amounts: Reals) -> None:
    """Add at places that repeat; over the whole column only where many are added."""
    if len(places) * 8 > len(sums):
        sums += np.bincount(places, weights=amounts, minlength=len(sums))
    else:
        np.add.at(sums, places, amounts)


def closeness(part: Subgraph, options: Options, budget: Budget) -> tuple[Reals, Reals]:
    """Closeness (Wasserman and Faust's, for parts that do not hang together) and harmonic closeness, ``float64[n]``.

    Distances are those from the node in the direction of the options. Both lie between 0 and 1; from a sample of pivots
    they are estimates.
    """
    size = part.size
    graph = neighbours(part, options.direction, budget)
    starts = pivots(size, options)
    _check_work(len(starts) * (len(graph.ids) + 1000), _MOST_BITS, len(starts))
    reached, sums, inverse = np.zeros(size), np.zeros(size), np.zeros(size)
    words = int(min(16, max(1, _GATHERED_BYTES // (8 * (len(graph.ids) + size) + 8))))
    pace = _Pace(budget, len(starts))
    for first in range(0, len(starts), 64 * words):
        pace.check(first)
        _spread(graph, starts[first : first + 64 * words], (reached, sums, inverse), budget)
    others = np.full(size, float(len(starts)))
    others[starts] -= 1  # a pivot is none for itself
    others = np.maximum(others, 1)
    score = reached * reached / np.maximum(sums, 1) / others
    return score, inverse / others


def _spread(graph: Neighbours, starts: Ids, sums: tuple[Reals, Reals, Reals], budget: Budget) -> None:
    """Add for each node how many of ``starts`` it reaches, their distances, and the inverse of these.

    Every start is a bit; a node has those that it reaches within the steps made so far, and takes over in each step
    what its neighbours got in the step before.
    """
    size = len(graph.offsets) - 1
    words = (len(starts) + 63) // 64
    seen: npt.NDArray[np.uint64] = np.zeros((size, words), dtype=np.uint64)
    places = np.arange(len(starts))
    seen[starts, places // 64] = np.left_shift(np.uint64(1), (places % 64).astype(np.uint64))
    last = seen.copy()
    walking = np.flatnonzero(graph.offsets[1:] > graph.offsets[:-1])
    depth = 0
    while len(walking):
        budget.check()
        depth += 1
        fresh = np.zeros_like(seen)
        fresh[walking] = np.bitwise_or.reduceat(last[graph.ids], graph.offsets[walking], axis=0)
        fresh &= ~seen
        counts = np.bitwise_count(fresh).sum(axis=1, dtype=np.int64)
        if not counts.any():
            return
        sums[0][:] += counts
        sums[1][:] += depth * counts
        sums[2][:] += counts / depth
        seen |= fresh
        last = fresh


def _check_work(steps: int, most: int, starts: int) -> None:
    if steps > most:
        fitting = max(1, starts * most // steps // 2)
        raise BudgetError(
            f"From each of {starts:,} nodes this would take too long. Give samples: {fitting} for estimates from so "
            "many nodes, or narrow the subgraph with `labels`, `types` or `nodes`."
        )
