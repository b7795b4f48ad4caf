"""Values of a query: graph values, equality, comparison, order and grouping across types.

Read by every part of execute/ and by cypher/result. Inside the engine nodes, relationships and paths travel as
references (an id of one graph generation); `materialize` turns them into the public values: Node, Relationship, Path.

Plain values, inside the engine and in answers, are None, bool, int, float, str, list, dict, Duration and moments:

    DATE            date; FarDate outside the years 1 … 9999
    LOCAL TIME      LocalTime
    ZONED TIME      Time
    LOCAL DATETIME  datetime without tzinfo; LocalDateTime with nanoseconds or in a far year
    ZONED DATETIME  datetime in UTC; ZonedDateTime at an offset, in a named zone, with nanoseconds or in a far year

The classes are those of cypher/temporals and cypher/durations; ``str()`` of one is its ISO 8601 text. Two zoned values
of one instant are equal, and one in DISTINCT and grouping, whatever their zones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Final, TypeGuard

import numpy as np

from vaultgraph.cypher.durations import Duration, average_nanoseconds
from vaultgraph.cypher.entities import ends_of, labels_of, node_properties, relationship_properties, table_of
from vaultgraph.cypher.temporals import (
    FarDate,
    LocalDateTime,
    LocalTime,
    Temporal,
    Time,
    ZonedDateTime,
)
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph


@frozen
class Node:
    """A node as answers carry it; ``id`` is its number in one generation, ``properties["path"]`` the stable key."""

    id: int
    labels: tuple[str, ...]
    properties: dict[str, object]


@frozen
class Relationship:
    """A relationship as answers carry it; ``source`` and ``target`` are node ids."""

    id: int
    type: str
    source: int
    target: int
    properties: dict[str, object]


@frozen
class Path:
    """``nodes`` has one more than ``relationships``; they alternate. Relationships keep their own direction."""

    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


@frozen
class NodeRef:
    """A node inside the engine."""

    id: int


@frozen
class RelationshipRef:
    """A relationship inside the engine."""

    id: int


@frozen
class PathRef:
    """A path inside the engine: node ids, one more than relationship ids."""

    nodes: tuple[int, ...]
    relationships: tuple[int, ...]


class Refusal(Exception):  # noqa: N818 -- not an error of the tree: it becomes one where the span is known
    """An operator or function cannot work on these values; the evaluator adds the place and raises EvaluationError."""


UNORDERED: Final = 2
"""What `three_way` gives for NaN: every one of < <= > >= is false."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether ``value`` is an INTEGER or FLOAT (a boolean is neither)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether ``value`` is a LIST."""
    return isinstance(value, list)


def is_map(value: object) -> TypeGuard[dict[str, object]]:
    """Whether ``value`` is a MAP."""
    return isinstance(value, dict)


def equals(left: object, right: object) -> bool | None:
    """``left = right``: None where a null decides; values of different types are unequal, 1 equals 1.0."""
    if left is None or right is None:
        return None
    if is_list(left) and is_list(right):
        return _equal_lists(left, right)
    if is_map(left) and is_map(right):
        return _equal_maps(left, right)
    if is_number(left):
        return is_number(right) and left == right
    return left == right if type(left) is type(right) else _are_alike_moments(left, right) and left == right


def _are_alike_moments(left: object, right: object) -> bool:
    """Whether both are moments of one type of queries, in whatever classes."""
    return (
        isinstance(left, date | Temporal) and isinstance(right, date | Temporal) and type_name(left) == type_name(right)
    )


def three_way(left: object, right: object) -> int | None:
    """-1, 0 or 1; UNORDERED where a NaN takes part; None where a null decides or the types cannot be compared."""
    if is_number(left) and is_number(right):
        if left != left or right != right:
            return UNORDERED
        return (left > right) - (left < right)
    if is_list(left) and is_list(right):
        return _compare_lists(left, right)
    is_alike = type(left) is type(right) and isinstance(left, str | bool | date | Temporal)
    if not is_alike or isinstance(left, datetime):
        is_alike = _are_alike_moments(left, right)
    return (left > right) - (left < right) if is_alike else None  # type: ignore[operator]


def compare(operator: str, left: object, right: object) -> bool | None:
    """One of ``= <> < <= > >=`` in three-valued logic."""
    if operator == "=":
        return equals(left, right)
    if operator == "<>":
        equal = equals(left, right)
        return None if equal is None else not equal
    order = three_way(left, right)
    if order is None:
        return None
    if order == UNORDERED:
        return False
    return _ORDER_TESTS[operator](order)


def less(left: object, right: object) -> bool | None:
    """``left < right``."""
    return compare("<", left, right)


_ORDER_TESTS: Final[Mapping[str, Callable[[int], bool]]] = MappingProxyType(
    {
        "<": lambda order: order < 0,
        "<=": lambda order: order <= 0,
        ">": lambda order: order > 0,
        ">=": lambda order: order >= 0,
    }
)


def order_key(value: object) -> tuple[Any, ...]:
    """A key that sorts any values ascending: maps, nodes, relationships, lists, paths, datetimes, local datetimes,
    dates, times, local times, durations, strings, booleans, numbers, NaN, null. 1 and 1.0 are the same."""
    if is_map(value):
        entries = sorted(value.items(), key=lambda entry: entry[0])
        return (1, tuple(key for key, _ in entries), tuple(order_key(cell) for _, cell in entries))
    if is_list(value):
        return (4, tuple(order_key(item) for item in value))
    match value:
        case None:
            return (16,)
        case bool():
            return (13, value)
        case int() | float():
            return (15,) if value != value else (14, value)
        case str():
            return (12, value)
        case NodeRef() | Node():
            return (2, value.id)
        case RelationshipRef() | Relationship():
            return (3, value.id)
        case PathRef():
            return (5, value.nodes, value.relationships)
        case Path():
            return (5, tuple(node.id for node in value.nodes), tuple(one.id for one in value.relationships))
        case datetime():
            return (6 if value.tzinfo is not None else 7, value)
        case ZonedDateTime():
            return (6, value)
        case LocalDateTime():
            return (7, value)
        case date() | FarDate():
            return (8, value)
        case Time():
            return (9, value)
        case LocalTime():
            return (10, value)
        case Duration():
            return (11, average_nanoseconds(value), value.months, value.days)
        case _:
            raise TypeError(f"not a query value: {type(value).__name__}")


def group_key(value: object) -> object:
    """A hashable that is equal for values that DISTINCT and grouping put together: 1 and 1.0, null with null, NaN with
    NaN; true and 1 differ."""
    if is_list(value):
        return ("list", tuple(group_key(item) for item in value))
    if is_map(value):
        return ("map", frozenset((key, group_key(cell)) for key, cell in value.items()))
    match value:
        case bool():
            return ("boolean", value)
        case float():
            return ("NaN",) if math.isnan(value) else value
        case Node():
            return NodeRef(value.id)
        case Relationship():
            return RelationshipRef(value.id)
        case Path():
            return PathRef(tuple(node.id for node in value.nodes), tuple(one.id for one in value.relationships))
        case _:
            return value


def type_name(value: object) -> str:
    """The Cypher name of the type of ``value``, as messages and valueType() show it."""
    if isinstance(value, datetime):
        return "LOCAL DATETIME" if value.tzinfo is None else "ZONED DATETIME"
    if isinstance(value, NodeRef | RelationshipRef):
        return "NODE" if isinstance(value, NodeRef) else "RELATIONSHIP"
    return _TYPE_NAMES.get(type(value)) or type(value).__name__.upper()


_TYPE_NAMES: Final[Mapping[type, str]] = MappingProxyType(
    {
        type(None): "NULL",
        bool: "BOOLEAN",
        int: "INTEGER",
        float: "FLOAT",
        str: "STRING",
        list: "LIST",
        dict: "MAP",
        NodeRef: "NODE",
        Node: "NODE",
        RelationshipRef: "RELATIONSHIP",
        Relationship: "RELATIONSHIP",
        PathRef: "PATH",
        Path: "PATH",
        date: "DATE",
        FarDate: "DATE",
        LocalTime: "LOCAL TIME",
        Time: "ZONED TIME",
        LocalDateTime: "LOCAL DATETIME",
        ZonedDateTime: "ZONED DATETIME",
        Duration: "DURATION",
    }
)


def materialize(value: object, graph: Graph) -> object:
    """The public form of one engine value: references, at any depth, become Node, Relationship and Path."""
    return materialize_all([value], graph)[0]


def materialize_all(values: Sequence[object], graph: Graph) -> list[object]:
    """The public form of many engine values; properties are fetched once for each node and relationship in them.

    A list that stands in several rows, one below another, stays one list.
    """
    node_ids: set[int] = set()
    relationship_ids: set[int] = set()
    last: object = None
    for value in values:
        if value is not last:
            last = value
            _note_references(value, node_ids, relationship_ids)
    if not node_ids and not relationship_ids:
        return list(values)
    nodes = _nodes(sorted(node_ids), graph)
    relationships = _relationships(sorted(relationship_ids), graph)
    made: list[object] = []
    last = None
    for value in values:
        if value is None or value is not last:
            last = value
            made.append(_public(value, nodes, relationships))
        else:
            made.append(made[-1])
    return made


def _note_references(value: object, nodes: set[int], relationships: set[int]) -> None:
    if isinstance(value, NodeRef):
        nodes.add(value.id)
    elif isinstance(value, RelationshipRef):
        relationships.add(value.id)
    elif isinstance(value, PathRef):
        nodes.update(value.nodes)
        relationships.update(value.relationships)
    elif is_list(value):
        for item in value:
            _note_references(item, nodes, relationships)
    elif is_map(value):
        for item in value.values():
            _note_references(item, nodes, relationships)


def _nodes(ids: list[int], graph: Graph) -> dict[int, Node]:
    """Nodes by id, ``ids`` ascending; of one that a statement has deleted (its id is below -1) nothing is left."""
    gone = {one: Node(one, (), {}) for one in ids if one < 0}
    ids = ids[len(gone) :]
    properties = node_properties(graph, np.array(ids, dtype=np.int64))
    return gone | {one: Node(one, labels_of(graph, one), cells) for one, cells in zip(ids, properties, strict=True)}


def _relationships(ids: list[int], graph: Graph) -> dict[int, Relationship]:
    gone = {one: Relationship(one, "", -1, -1, {}) for one in ids if one < 0}
    ids = ids[len(gone) :]
    properties = relationship_properties(graph, np.array(ids, dtype=np.int64))
    return gone | {
        one: Relationship(one, table_of(graph, one).type, *ends_of(graph, one), cells)
        for one, cells in zip(ids, properties, strict=True)
    }


def _public(value: object, nodes: dict[int, Node], relationships: dict[int, Relationship]) -> object:
    if isinstance(value, NodeRef):
        return nodes[value.id]
    if isinstance(value, RelationshipRef):
        return relationships[value.id]
    if isinstance(value, PathRef):
        return Path(tuple(nodes[one] for one in value.nodes), tuple(relationships[one] for one in value.relationships))
    if is_list(value):
        return [_public(item, nodes, relationships) for item in value]
    if is_map(value):
        return {key: _public(item, nodes, relationships) for key, item in value.items()}
    return value


def _equal_lists(left: list[object], right: list[object]) -> bool | None:
    if len(left) != len(right):
        return False
    known = True
    for one, other in zip(left, right, strict=True):
        equal = equals(one, other)
        if equal is False:
            return False
        known = known and equal is True
    return True if known else None


def _equal_maps(left: dict[str, object], right: dict[str, object]) -> bool | None:
    if left.keys() != right.keys():
        return False
    return _equal_lists(list(left.values()), [right[key] for key in left])


def _compare_lists(left: list[object], right: list[object]) -> int | None:
    for one, other in zip(left, right, strict=False):
        equal = equals(one, other)
        if equal is None:
            return None
        if not equal:
            return three_way(one, other)
    return (len(left) > len(right)) - (len(left) < len(right))
