"""Facts about a graph's columns that the planner of queries asks for: computed when first asked, then kept.

One belongs to each Schema, so a snapshot's queries share them. Every fact is exact; none is needed for a right answer.
"""

from collections.abc import Sequence

import polars as pl

from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.graph import Graph

Ranges = Sequence[tuple[int, int]]  # node ids (first, stop), ascending


class Facts:
    """What is known of the columns of one graph; a fact asked for by two threads at once is computed twice."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._loops: dict[str, bool] = {}
        self._complete: dict[tuple[tuple[tuple[int, int], ...], str], bool] = {}
        self._keys: dict[tuple[tuple[tuple[int, int], ...], str], bool] = {}

    def has_loops(self, type_name: str) -> bool:
        """Whether a relationship of the type leads from a node to itself; False for an unknown type."""
        if type_name not in self._loops:
            table = self.graph.relationships.get(type_name)
            self._loops[type_name] = table is not None and bool((table.sources == table.targets).any())
        return self._loops[type_name]

    def is_complete(self, ranges: Ranges, key: str) -> bool:
        """Whether every node in ``ranges`` has the property ``key``."""
        place = (tuple(ranges), key)
        if place not in self._complete:
            column = self.graph.node_columns.get(key)
            self._complete[place] = column is not None and all(_covers(column, *one) for one in ranges)
        return self._complete[place]

    def is_key(self, ranges: Ranges, key: str) -> bool:
        """Whether every node in ``ranges`` has the property ``key``, each another value of one type."""
        place = (tuple(ranges), key)
        if place not in self._keys:
            self._keys[place] = self.is_complete(ranges, key) and _is_distinct(self.graph.node_columns[key], ranges)
        return self._keys[place]


def _covers(column: Column, first: int, stop: int) -> bool:
    for segment in column.segments:
        if segment.stop <= first or segment.first >= stop:
            continue
        if segment.first > first:
            return False
        cells = segment.series.slice(first - segment.first, min(stop, segment.stop) - first)
        if cells.null_count() or (cells.dtype == VARIANT and bool((cells.struct.field("kind") == 0).any())):
            return False
        first += len(cells)
    return first >= stop


def _is_distinct(column: Column, ranges: Ranges) -> bool:
    parts = [
        segment.series.slice(max(first - segment.first, 0), min(stop, segment.stop) - max(first, segment.first))
        for segment in column.segments
        for first, stop in ranges
        if segment.first < stop and segment.stop > first
    ]
    dtypes = {part.dtype for part in parts}
    if len(dtypes) != 1 or not dtypes <= {pl.String(), pl.Int64(), pl.Date()}:
        return False
    cells = pl.concat(parts) if len(parts) > 1 else parts[0]
    return cells.n_unique() == len(cells)
