"""Facts about a graph's columns that the planner of queries asks for: computed when first asked, then kept.

One belongs to each Schema, so a snapshot's queries share them. Every fact is exact; none is needed for a right answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import polars as pl

from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.sorted_index import SortedIndex, sorted_index

Ranges = Sequence[tuple[int, int]]  # node ids (first, stop), ascending

ALWAYS_INDEXED: Final = frozenset({"path", "id", "title", "stem"})
_MOST_INDEXES: Final = 64
_MOST_INDEXED: Final = 2_000_000  # nodes; an index over more would hold a query up for too long
_NOTHING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


class Facts:
    """What is known of the columns of one graph; a fact asked for by two threads at once is computed twice.

    ``indexes``: the properties that are looked up often, by label, as the vault declares them.
    """

    def __init__(self, graph: Graph, indexes: Mapping[str, tuple[str, ...]] = _NOTHING) -> None:
        self.graph = graph
        self.indexes = indexes
        self._sorted: dict[tuple[tuple[tuple[int, int], ...], str], SortedIndex | None] = {}
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

    def is_indexed(self, labels: Iterable[str], key: str) -> bool:
        """Whether nodes that all have ``labels`` are sought by ``key`` through a sorted index."""
        return key in ALWAYS_INDEXED or any(key in self.indexes.get(label, ()) for label in labels)

    def index(self, ranges: Ranges, key: str) -> SortedIndex | None:
        """The sorted index of ``key`` over the nodes in ``ranges``.

        None the first time it is asked for, when a look at the column is cheaper than an index, and where there are
        too many nodes.
        """
        place = (tuple(ranges), key)
        if place not in self._sorted:
            if len(self._sorted) >= _MOST_INDEXES:
                self._sorted = {}
            self._sorted[place] = None
            return None
        found = self._sorted.get(place)
        if found is None and sum(stop - first for first, stop in ranges) <= _MOST_INDEXED:
            found = self._sorted[place] = sorted_index(self.graph.node_columns.get(key), ranges)
        return found


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
