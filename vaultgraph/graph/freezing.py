"""From a graph that changes to the columnar one that queries read, and where each node and relationship went.

The same nodes and relationships under the same ids give the same Graph, whatever the way they came about: groups are
sorted by their labels, which stand in the order in which a node got them, and relationship types by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from vaultgraph.graph.cells import series_of
from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable
from vaultgraph.graph.mutable import MutableGraph


@dataclass(frozen=True, slots=True)
class Frozen:
    """``graph``, and the ids of the mutable graph: ``node_ids[n]`` is that of the node n of ``graph``.

    ``node_places[i]`` is the other way round, -1 for a node that is no more; relationships likewise (global ids).
    """

    graph: Graph
    node_ids: Ids
    node_places: Ids
    relationship_ids: Ids
    relationship_places: Ids


def freeze(mutable: MutableGraph) -> Frozen:
    """The graph as it is now; later changes of ``mutable`` do not reach it."""
    # row loop: every node and relationship is a Python object; as many as there are
    order = sorted((node.labels, one) for one, node in mutable.nodes.items())
    node_ids = np.array([one for _, one in order], dtype=np.int64)
    node_places = _places(node_ids, mutable.next_node)
    groups: list[NodeGroup] = []
    for labels, same in groupby(order, key=lambda entry: entry[0]):
        members = [one for _, one in same]
        first = groups[-1].stop if groups else 0
        groups.append(NodeGroup(labels, first, first + len(members)))
    records = [mutable.nodes[one].properties for one in node_ids.tolist()]
    columns = _columns(records, [(group.first, group.stop) for group in groups])
    tables, relationship_ids = _tables(mutable, node_places)
    return Frozen(
        Graph(len(node_ids), tuple(groups), columns, tables),
        node_ids,
        node_places,
        relationship_ids,
        _places(relationship_ids, mutable.next_relationship),
    )


def _tables(mutable: MutableGraph, places: Ids) -> tuple[dict[str, RelationshipTable], Ids]:
    """Tables by type, sorted by name, and the mutable ids in the order of the global ids."""
    by_type: dict[str, list[int]] = {}
    # row loop: as above
    for one in sorted(mutable.relationships):
        by_type.setdefault(mutable.relationships[one].type, []).append(one)
    tables: dict[str, RelationshipTable] = {}
    ids: list[Ids] = []
    first = 0
    for name in sorted(by_type):
        members = np.array(by_type[name], dtype=np.int64)
        found = [mutable.relationships[one] for one in by_type[name]]
        sources = places[[one.source for one in found]].astype(np.uint32)
        targets = places[[one.target for one in found]].astype(np.uint32)
        order: Ids = np.lexsort((members, targets, sources))
        sources, targets = sources[order], targets[order]
        rows: list[int] = order.tolist()
        records = [found[row].properties for row in rows]
        columns = _columns(records, [(0, len(found))])
        tables[name] = RelationshipTable(
            name, first, sources, targets, build_csr(sources, targets), build_csr(targets, sources), columns
        )
        ids.append(members[order])
        first += len(found)
    return tables, np.concatenate(ids) if ids else np.zeros(0, dtype=np.int64)


def _columns(records: Sequence[Mapping[str, object]], spans: Sequence[tuple[int, int]]) -> dict[str, Column]:
    segments: dict[str, list[Segment]] = {key: [] for record in records for key in record}
    for first, stop in spans:
        group = records[first:stop]
        for key in dict.fromkeys(key for record in group for key in record):
            segments[key].append(Segment(first, series_of([record.get(key) for record in group])))
    return {key: Column(tuple(found)) for key, found in segments.items()}


def _places(ids: Ids, count: int) -> Ids:
    places = np.full(count, -1, dtype=np.int64)
    places[ids] = np.arange(len(ids), dtype=np.int64)
    return places
