"""The schema of a graph: which labels, relationship types and property keys there are, with types and coverage.

Made with every snapshot and asked by every query, so making one only counts node groups; what needs a look at columns
is worked out when it is first asked for and kept. It describes; it demands nothing of a graph.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph, group_index, label_counts, ranges_of_label
from vaultgraph.note.records import ValueKind

KIND_NAMES: Final = {
    ValueKind.TEXT: "STRING",
    ValueKind.INTEGER: "INTEGER",
    ValueKind.FLOAT: "FLOAT",
    ValueKind.BOOLEAN: "BOOLEAN",
    ValueKind.DATE: "DATE",
    ValueKind.LOCAL_DATETIME: "LOCAL DATETIME",
    ValueKind.UTC_DATETIME: "ZONED DATETIME",
    ValueKind.EMPTY_LIST: "LIST",
    ValueKind.JSON: "LIST",
    ValueKind.TIME: "ZONED TIME",
    ValueKind.LOCAL_TIME: "LOCAL TIME",
    ValueKind.ZONED_DATETIME: "ZONED DATETIME",
    ValueKind.LOCAL_DATETIME_NS: "LOCAL DATETIME",
    ValueKind.DURATION: "DURATION",
    ValueKind.LIST: "LIST",
    ValueKind.FAR_DATE: "DATE",
}
"""The Cypher name of the type of a cell in a VARIANT segment."""
_DTYPES: Final = (
    (pl.String, "STRING"),
    (pl.Int64, "INTEGER"),
    (pl.Float64, "FLOAT"),
    (pl.Boolean, "BOOLEAN"),
    (pl.Date, "DATE"),
)


@frozen
class PropertyFacts:
    """One property of a label or a relationship type: ``count`` have it, of ``total``; ``types`` sorted by name."""

    key: str
    types: tuple[str, ...]
    count: int
    total: int


@frozen
class Endpoints:
    """How many relationships of ``type`` lead from ``source`` to ``target``, by the first label of each end."""

    type: str
    source: str
    target: str
    count: int


class Schema:
    """What a graph has. ``labels`` and ``relationship_types``: names with counts, most first, then by name.

    ``indexes``: the properties that a vault declares to be looked up often, by label.
    """

    def __init__(self, graph: Graph, indexes: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._graph = graph
        self.indexes: Mapping[str, tuple[str, ...]] = {} if indexes is None else indexes
        self.facts = Facts(graph, self.indexes)
        self._properties: dict[str, tuple[PropertyFacts, ...]] = {}
        self.labels: Mapping[str, int] = label_counts(graph)
        counts = {name: table.size for name, table in graph.relationships.items()}
        self.relationship_types: Mapping[str, int] = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def property_keys(self, label: str | None) -> frozenset[str]:
        """Keys that a node with ``label`` has, with None that any node has; empty for an unknown label."""
        if label is None:
            return frozenset(self._graph.node_columns)
        return frozenset(facts.key for facts in self.properties_of(label))

    def relationship_property_keys(self, type_name: str | None) -> frozenset[str]:
        """Keys that a relationship of the type has, with None that any has; empty for an unknown type."""
        if type_name is None:
            return frozenset(key for table in self._graph.relationships.values() for key in table.columns)
        table = self._graph.relationships.get(type_name)
        return frozenset(table.columns) if table else frozenset()

    def properties_of(self, label: str) -> tuple[PropertyFacts, ...]:
        """The properties of the nodes with ``label``, sorted by key; empty for an unknown one."""
        if label not in self.labels:
            return ()
        if label not in self._properties:
            self._properties[label] = facts_of(self._graph.node_columns, ranges_of_label(self._graph, label))
        return self._properties[label]

    def properties_of_type(self, type_name: str) -> tuple[PropertyFacts, ...]:
        """The properties of the relationships of a type, sorted by key; empty for an unknown one."""
        table = self._graph.relationships.get(type_name)
        if table is None:
            return ()
        return facts_of(table.columns, [(0, table.size)])

    def endpoints(self, type_name: str) -> tuple[Endpoints, ...]:
        """From which labels to which a type leads, most first; empty for an unknown one."""
        table = self._graph.relationships.get(type_name)
        if table is None:
            return ()
        first = [group.labels[0] if group.labels else "" for group in self._graph.groups]
        codes = group_index(self._graph, table.sources.astype(np.int64)) * len(first)
        codes = codes + group_index(self._graph, table.targets.astype(np.int64))
        counts: dict[tuple[str, str], int] = {}
        pairs, sizes = np.unique(codes, return_counts=True)
        for code, size in zip(pairs, sizes, strict=True):  # row loop: one step a pair of labels
            ends = (first[int(code) // len(first)], first[int(code) % len(first)])
            counts[ends] = counts.get(ends, 0) + int(size)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Endpoints(type_name, source, target, size) for (source, target), size in ordered)


def schema_of(graph: Graph, indexes: Mapping[str, tuple[str, ...]] | None = None) -> Schema:
    """The schema of ``graph``; making it costs a pass over the node groups. ``indexes``: declared ones, by label."""
    return Schema(graph, indexes)


def type_name(dtype: pl.DataType) -> str:
    """The Cypher name of the type of a segment; VARIANT has none of its own and gives ``ANY``."""
    if isinstance(dtype, pl.List):
        return f"LIST<{type_name(_inner(dtype))}>"
    if isinstance(dtype, pl.Datetime):
        return "ZONED DATETIME" if dtype.time_zone else "LOCAL DATETIME"
    return next((name for kind, name in _DTYPES if dtype == kind), "ANY")


def _inner(dtype: pl.List) -> pl.DataType:
    return pl.Series(dtype=dtype.inner).dtype  # a class becomes an instance


def facts_of(columns: Mapping[str, Column], ranges: list[tuple[int, int]]) -> tuple[PropertyFacts, ...]:
    """The properties that some id in ``ranges`` has, sorted by key."""
    total = sum(stop - first for first, stop in ranges)
    found: list[PropertyFacts] = []
    for key, column in sorted(columns.items()):
        parts = [_part(segment, first, stop) for segment in column.segments for first, stop in ranges]
        types = {name for names, _ in parts for name in names}
        if types:
            found.append(PropertyFacts(key, tuple(sorted(types)), sum(count for _, count in parts), total))
    return tuple(found)


def _part(segment: Segment, first: int, stop: int) -> tuple[list[str], int]:
    """Types and number of the cells of ``segment`` with ids between ``first`` and ``stop``."""
    first, stop = max(segment.first, first), min(segment.stop, stop)
    if first >= stop:
        return [], 0
    if segment.dtype != VARIANT:
        count = segment.filled(first, stop)
        return ([type_name(segment.dtype)] if count else []), count
    present = np.bincount(segment.kinds(first, stop), minlength=1)
    return [KIND_NAMES[ValueKind(kind)] for kind in np.flatnonzero(present[1:]) + 1], int(present[1:].sum())
