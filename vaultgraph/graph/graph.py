"""The immutable property graph: labelled node ranges, property columns, relationships with adjacency both ways.

Made by graph/build or read from a .kgl file by graph/store; read by cypher/ and serve/. Nodes with the same label set
lie side by side, so a label is a few ranges of ids and never a lookup.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.cells import records_of
from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.csr import Array32, Csr, build_csr
from vaultgraph.graph.mutable import MutableGraph
from vaultgraph.graph.tables import NodeFrames, RelationshipFrames, frame_of, node_segments, relationship_rows


@frozen
class NodeGroup:
    """The nodes ``first`` … ``stop - 1``, which all have exactly ``labels`` (in the order to show them, maybe none)."""

    labels: tuple[str, ...]
    first: int
    stop: int


@frozen
class RelationshipTable:
    """All relationships of one type; row r has the global id ``first + r``.

    ``sources`` and ``targets``: ``uint32[m]`` node ids, sorted by (source, target). ``outgoing`` leads from sources to
    targets, ``incoming`` back. ``columns`` are indexed by row, not by global id.
    """

    type: str
    first: int
    sources: Array32
    targets: Array32
    outgoing: Csr
    incoming: Csr
    columns: Mapping[str, Column]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.sources)

    @property
    def stop(self) -> int:
        """One past the last global relationship id."""
        return self.first + self.size


@frozen
class Graph:
    """Nodes ``0 … node_count - 1`` and relationships ``0 … relationship_count - 1`` of one generation.

    ``groups`` are sorted by ``first`` and cover every node once. ``node_columns`` are indexed by node id.
    ``relationships`` is keyed by type, in the order of ``first``; their id ranges cover every relationship once.
    """

    node_count: int
    groups: tuple[NodeGroup, ...]
    node_columns: Mapping[str, Column]
    relationships: Mapping[str, RelationshipTable]

    @property
    def relationship_count(self) -> int:
        """How many relationships there are, of all types."""
        return sum(table.size for table in self.relationships.values())

    def mutable(self) -> MutableGraph:
        """A graph that can be changed, with the same nodes and relationships under the same ids."""
        labels = (group.labels for group in self.groups for _ in range(group.first, group.stop))
        nodes = zip(labels, records_of(self.node_columns, self.node_count), strict=True)
        relationships = (
            (table.type, source, target, record)
            for table in self.relationships.values()
            for source, target, record in zip(
                table.sources.tolist(),
                table.targets.tolist(),
                records_of(table.columns, len(table.sources)),
                strict=True,
            )
        )
        return MutableGraph.filled(nodes, relationships)

    @classmethod
    def from_tables(cls, nodes: NodeFrames, relationships: RelationshipFrames = (), *, key: str = "id") -> "Graph":
        """A graph from polars DataFrames or Arrow tables.

        ``nodes``: a frame for each label, whose columns are properties and whose column ``key`` names each node.
        ``relationships``: (type, frame, label of the start nodes, label of the end nodes); the columns ``from`` and
        ``to`` hold keys of nodes, every other column is a property.

        Raises:
            BuildError: a key is missing, null, doubled or names no node, or a column is of a type no property has.
        """
        frames = {label: frame_of(data, label) for label, data in nodes.items()}
        segments, firsts = node_segments(frames, key)
        parts: dict[str, list[pl.DataFrame]] = {}
        for name, rows in relationship_rows(relationships, frames, firsts, key):
            parts.setdefault(name, []).append(rows)
        tables: dict[str, RelationshipTable] = {}
        first = 0
        for name in sorted(parts):
            tables[name] = _table_of(name, first, parts[name])
            first = tables[name].stop
        return cls(
            node_count=sum(frame.height for frame in frames.values()),
            groups=tuple(NodeGroup((label,), firsts[label], firsts[label] + frames[label].height) for label in frames),
            node_columns={name: Column(tuple(found)) for name, found in segments.items()},
            relationships=tables,
        )


def _table_of(name: str, first: int, parts: Iterable[pl.DataFrame]) -> RelationshipTable:
    rows = pl.concat(parts, how="diagonal_relaxed")
    sources, targets = rows[" source"].to_numpy(), rows[" target"].to_numpy()
    order = np.argsort((sources.astype(np.uint64) << np.uint64(32)) | targets, kind="stable")
    sources, targets = sources[order], targets[order]
    properties = rows.drop(" source", " target")[order]
    columns = {
        column.name: Column((Segment(0, column.rechunk()),))
        for column in properties.iter_columns()
        if column.null_count() < len(column)
    }
    return RelationshipTable(
        name, first, sources, targets, build_csr(sources, targets), build_csr(targets, sources), columns
    )


def label_counts(graph: Graph) -> dict[str, int]:
    """Every label with its number of nodes, most nodes first, then by name."""
    counts: dict[str, int] = {}
    for group in graph.groups:
        for label in group.labels:
            counts[label] = counts.get(label, 0) + group.stop - group.first
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def ranges_of_label(graph: Graph, label: str) -> list[tuple[int, int]]:
    """The node id ranges (first, stop) that carry ``label``, ascending, neighbours merged; none for an unknown one."""
    ranges: list[tuple[int, int]] = []
    for group in graph.groups:
        if label in group.labels and group.first < group.stop:
            if ranges and ranges[-1][1] == group.first:
                ranges[-1] = (ranges[-1][0], group.stop)
            else:
                ranges.append((group.first, group.stop))
    return ranges


def group_index(graph: Graph, ids: Ids) -> Ids:
    """The index in ``graph.groups`` of each node id, ``int64[len(ids)]``; ids must be valid nodes."""
    starts = np.array([group.first for group in graph.groups], dtype=np.int64)
    return np.searchsorted(starts, ids, side="right") - 1


def tables_of(graph: Graph, ids: Ids) -> list[tuple[RelationshipTable, Ids]]:
    """The relationship tables that hold the global ids ``ids``, each with the positions in ``ids`` it holds."""
    found: list[tuple[RelationshipTable, Ids]] = []
    for table in graph.relationships.values():
        positions = np.flatnonzero((ids >= table.first) & (ids < table.stop))
        if len(positions):
            found.append((table, positions))
    return found
