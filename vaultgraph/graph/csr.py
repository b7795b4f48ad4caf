"""Compressed adjacency of one relationship type in one direction, and expansion by gathering.

Built once with numpy, never changed. Only the range of nodes that have a relationship of the type is covered, so that a
rare type costs little in a large graph.
"""

import numpy as np
import numpy.typing as npt

from vaultgraph.frozen import frozen

Array32 = npt.NDArray[np.uint32]
Ids = npt.NDArray[np.int64]


@frozen
class Csr:
    """Adjacency of the nodes ``first`` … ``first + len(offsets) - 2``.

    ``offsets: uint32[n+1]``; the neighbours of node ``first + i`` are ``neighbours[offsets[i]:offsets[i+1]]``, sorted;
    ``rows: uint32[m]`` the row of each relationship in its table, aligned with ``neighbours``.
    """

    first: int
    offsets: Array32
    neighbours: Array32
    rows: Array32

    def degrees(self, ids: Ids) -> Ids:
        """How many relationships each of ``ids`` has here: ``int64[len(ids)]``; 0 for -1 and for uncovered nodes."""
        starts, stops = self._bounds(ids)
        return stops - starts

    def expand(self, ids: Ids) -> tuple[Ids, Ids, Ids]:
        """All relationships of ``ids``: (position in ``ids``, neighbour, relationship row), each ``int64[k]``.

        Ordered by position, then neighbour.
        """
        starts, stops = self._bounds(ids)
        counts = stops - starts
        total = int(counts.sum())
        positions = np.repeat(np.arange(len(ids), dtype=np.int64), counts)
        before = np.cumsum(counts) - counts
        slots = np.arange(total, dtype=np.int64) + np.repeat(starts - before, counts)
        return positions, self.neighbours[slots].astype(np.int64), self.rows[slots].astype(np.int64)

    def _bounds(self, ids: Ids) -> tuple[Ids, Ids]:
        local = ids - self.first
        covered = (local >= 0) & (local < len(self.offsets) - 1)
        local = np.where(covered, local, 0)
        if len(self.offsets) < 2:
            zero = np.zeros(len(ids), dtype=np.int64)
            return zero, zero
        starts = self.offsets[local].astype(np.int64)
        stops = np.where(covered, self.offsets[local + 1].astype(np.int64), starts)
        return starts, stops


def build_csr(from_ids: Array32, to_ids: Array32) -> Csr:
    """The adjacency of relationships given by their end nodes, ``uint32[m]`` each; row i is relationship i."""
    # One sort of packed pairs: ends that are sorted already, as every table's sources are, cost next to nothing.
    pairs = (from_ids.astype(np.uint64) << np.uint64(32)) | to_ids
    order = np.argsort(pairs, kind="stable").astype(np.uint32)
    return csr_of_sorted(from_ids[order], to_ids[order], order)


def csr_by_target(sources: Array32, targets: Array32) -> Csr:
    """The adjacency from ``targets`` back to ``sources`` of relationships that are sorted by (source, target)."""
    # Rows are in order of source already, so the row alone decides between equal targets: no two keys are the same, and
    # sorting them is twice as fast as finding out the order of pairs.
    keys = np.sort((targets.astype(np.uint64) << np.uint64(32)) | np.arange(len(targets), dtype=np.uint64))
    rows = keys.astype(np.uint32)
    return csr_of_sorted((keys >> np.uint64(32)).astype(np.uint32), sources[rows], rows)


def csr_of_sorted(from_ids: Array32, to_ids: Array32, rows: Array32 | None = None) -> Csr:
    """The same of relationships that are sorted by both ends; ``rows``: which they are, None for 0, 1, 2…"""
    if not len(from_ids):
        empty = np.zeros(0, dtype=np.uint32)
        return Csr(0, np.zeros(1, dtype=np.uint32), empty, empty)
    first, last = int(from_ids[0]), int(from_ids[-1])
    counts = np.bincount(from_ids.astype(np.int64) - first, minlength=last - first + 1)
    offsets = np.zeros(len(counts) + 1, dtype=np.uint32)
    np.cumsum(counts, out=offsets[1:])
    return Csr(first, offsets, to_ids, np.arange(len(from_ids), dtype=np.uint32) if rows is None else rows)
