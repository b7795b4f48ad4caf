"""Rows between the graph that changes and its frozen form: every reference gets the id it has on the other side.

Rows of a statement that writes keep the ids of the mutable graph; for each read they are brought to those of the graph
that is read, and what that read finds is brought back. What was deleted meanwhile becomes a value of cypher/deleted.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from vaultgraph.cypher.deleted import DeletedNode, DeletedRelationship, gone_id
from vaultgraph.cypher.execute.bindings import (
    Bindings,
    BoundColumn,
    NodeColumn,
    ObjectColumn,
    RelationshipColumn,
    ValueColumn,
)
from vaultgraph.cypher.execute.fetch import column_values, from_values
from vaultgraph.cypher.values import NodeRef, PathRef, RelationshipRef, is_list, is_map
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.freezing import Frozen

_GONE_TYPE: Final = ""

Move = Callable[[object], object]


def frozen_rows(rows: Bindings, frozen: Frozen, types: Mapping[int, str]) -> Bindings:
    """Rows with the ids of ``frozen.graph``; ``types`` are those of the relationships that were deleted."""

    def move(value: object) -> object:
        return _frozen(value, frozen, types)

    return _moved(rows, frozen.node_places, frozen.relationship_places, move)


def stable_rows(rows: Bindings, frozen: Frozen) -> Bindings:
    """Rows of ``frozen.graph`` with the ids of the mutable graph."""

    def move(value: object) -> object:
        return _stable(value, frozen)

    return _moved(rows, frozen.node_ids, frozen.relationship_ids, move)


def _moved(rows: Bindings, nodes: Ids, relationships: Ids, move: Move) -> Bindings:
    return Bindings(
        rows.height, {name: _column(column, nodes, relationships, move) for name, column in rows.columns.items()}
    )


def _column(column: BoundColumn, nodes: Ids, relationships: Ids, move: Move) -> BoundColumn:
    match column:
        case ValueColumn():
            return column
        case NodeColumn(ids):
            found = _gathered(nodes, ids)
            return NodeColumn(found) if not _has_gone(ids, found) else _each(column, move)
        case RelationshipColumn(ids):
            found = _gathered(relationships, ids)
            return RelationshipColumn(found) if not _has_gone(ids, found) else _each(column, move)
        case ObjectColumn():
            return _each(column, move)


def _gathered(places: Ids, ids: Ids) -> Ids:
    if not len(places):
        return np.full(len(ids), -1, dtype=np.int64)
    return np.where(ids < 0, -1, places[np.maximum(ids, 0)])


def _has_gone(ids: Ids, found: Ids) -> bool:
    return bool(((ids >= 0) & (found < 0)).any())


def _each(column: BoundColumn, move: Move) -> BoundColumn:
    # row loop: cells are Python values, with references at any depth
    return from_values([_deep(value, move) for value in column_values(column)])


def _deep(value: object, move: Move) -> object:
    if isinstance(value, NodeRef | RelationshipRef | PathRef):
        return move(value)
    if is_list(value):
        return [_deep(item, move) for item in value]
    if is_map(value):
        return {key: _deep(item, move) for key, item in value.items()}
    return value


def _frozen(value: object, frozen: Frozen, types: Mapping[int, str]) -> object:
    match value:
        case DeletedNode() | DeletedRelationship():
            return value
        case NodeRef(one):
            place = _place(one, frozen.node_places)
            return NodeRef(place) if place >= 0 else DeletedNode(place)
        case RelationshipRef(one):
            place = _place(one, frozen.relationship_places)
            return RelationshipRef(place) if place >= 0 else DeletedRelationship(place, types.get(one, _GONE_TYPE))
        case PathRef(nodes, relationships):
            return PathRef(
                tuple(_place(one, frozen.node_places) for one in nodes),
                tuple(_place(one, frozen.relationship_places) for one in relationships),
            )
        case _:
            return value


def _place(one: int, places: Ids) -> int:
    """Where an id went; below -1 for one that is no more, whenever it was deleted."""
    if one < 0:
        return one
    place = int(places[one])
    return place if place >= 0 else gone_id(one)


def _stable(value: object, frozen: Frozen) -> object:
    match value:
        case DeletedNode() | DeletedRelationship():
            return value
        case NodeRef(one):
            return NodeRef(int(frozen.node_ids[one]))
        case RelationshipRef(one):
            return RelationshipRef(int(frozen.relationship_ids[one]))
        case PathRef(nodes, relationships):
            return PathRef(
                tuple(one if one < 0 else int(frozen.node_ids[one]) for one in nodes),
                tuple(one if one < 0 else int(frozen.relationship_ids[one]) for one in relationships),
            )
        case _:
            return value
