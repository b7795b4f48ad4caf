"""A property graph that changes: nodes and relationships in plain dicts, under ids that stay as long as they live.

What statements that write work on. graph/freezing makes the columnar Graph of it that queries read; `Graph.mutable`
is the way back. Nothing here knows Cypher. One thread at a time.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from vaultgraph.errors import BuildError
from vaultgraph.frozen import frozen

Properties = Mapping[str, object]
"""Values are bool, int (64 bits), float, str, date, datetime (without a zone, or UTC), Written, or a list of these."""


@frozen
class Written:
    """A value of a kind that has no type in columns: ``kind`` is one of note.records.ValueKind, ``text`` its text."""

    kind: int
    text: str


@dataclass(slots=True)
class MutableNode:
    """``labels`` in the order in which the node got them; ``outgoing`` and ``incoming`` hold relationship ids."""

    labels: tuple[str, ...]
    properties: dict[str, object]
    outgoing: dict[int, None] = field(default_factory=dict[int, None])
    incoming: dict[int, None] = field(default_factory=dict[int, None])


@dataclass(slots=True)
class MutableRelationship:
    """``source`` and ``target`` are node ids."""

    type: str
    source: int
    target: int
    properties: dict[str, object]


Entity = MutableNode | MutableRelationship
_Undo = tuple[Callable[..., object], tuple[object, ...]]


class MutableGraph:
    """``nodes`` and ``relationships`` by id, for reading only: change them through the methods.

    Ids count up from 0 and are never given twice. ``version`` counts changes.
    """

    def __init__(self) -> None:
        self.nodes: dict[int, MutableNode] = {}
        self.relationships: dict[int, MutableRelationship] = {}
        self.version = 0
        self.next_node = 0
        self.next_relationship = 0
        self._labelled: dict[str, dict[int, None]] = {}
        self._undo: list[_Undo] | None = None

    @classmethod
    def filled(
        cls,
        nodes: Iterable[tuple[Iterable[str], Properties]],
        relationships: Iterable[tuple[str, int, int, Properties]],
    ) -> "MutableGraph":
        """A graph of nodes (labels, properties), which get the ids 0, 1, …, and of relationships (type, source,
        target, properties), likewise.

        Raises:
            BuildError: a relationship names no node.
        """
        graph = cls()
        # row loop: every entity becomes a Python object; as many as there are
        for labels, properties in nodes:
            graph.create_node(labels, properties)
        for name, source, target, properties in relationships:
            graph.create_relationship(name, source, target, properties)
        graph.version = 0
        return graph

    @contextmanager
    def all_or_nothing(self) -> Generator[None]:
        """Undo every change made inside where an error leaves it; blocks do not nest."""
        undo: list[_Undo] = []
        self._undo = undo
        is_done = False
        try:
            yield
            is_done = True
        finally:
            self._undo = None
            if not is_done:
                self._take_back(undo)

    @property
    def labels(self) -> list[str]:
        """The labels that nodes have, sorted."""
        return sorted(label for label, nodes in self._labelled.items() if nodes)

    def nodes_with(self, label: str) -> Mapping[int, None]:
        """The ids of the nodes with a label, in the order in which they got it."""
        return self._labelled.get(label, {})

    def relationships_of(self, node: int) -> Iterator[int]:
        """The ids of all relationships at a node; one that leads back to it comes once."""
        found = self.nodes[node]
        yield from found.outgoing
        yield from (one for one in found.incoming if one not in found.outgoing)

    def create_node(self, labels: Iterable[str] = (), properties: Properties | None = None) -> int:
        """A new node; its id."""
        made, self.next_node = self.next_node, self.next_node + 1
        found = MutableNode(tuple(dict.fromkeys(labels)), _without_nulls(properties or {}))
        self.nodes[made] = found
        for label in found.labels:
            self._labelled.setdefault(label, {})[made] = None
        self._changed(self._forget_node, made)
        return made

    def create_relationship(self, name: str, source: int, target: int, properties: Properties | None = None) -> int:
        """A new relationship of the type ``name``; its id.

        Raises:
            BuildError: there is no such node.
        """
        for node in (source, target):
            if node not in self.nodes:
                raise BuildError(f"{name}: there is no node {node} for the relationship to lead from or to.")
        made, self.next_relationship = self.next_relationship, self.next_relationship + 1
        self._link(made, MutableRelationship(name, source, target, _without_nulls(properties or {})))
        self._changed(self._forget_relationship, made)
        return made

    def set_property(self, entity: Entity, key: str, value: object) -> None:
        """Give a property a value; None takes it away."""
        self.set_properties(entity, {**entity.properties, key: value})

    def set_properties(self, entity: Entity, properties: Properties) -> None:
        """Make these the only properties."""
        self._changed(setattr, entity, "properties", entity.properties)
        entity.properties = _without_nulls(properties)

    def add_labels(self, node: int, labels: Iterable[str]) -> None:
        """Give a node labels that it may have already."""
        found = self.nodes[node]
        new = [label for label in dict.fromkeys(labels) if label not in found.labels]
        if new:
            self._relabel(node, (*found.labels, *new))

    def remove_labels(self, node: int, labels: Iterable[str]) -> None:
        """Take labels from a node that may lack them."""
        gone = set(labels)
        found = self.nodes[node].labels
        kept = tuple(label for label in found if label not in gone)
        if kept != found:
            self._relabel(node, kept)

    def delete_relationship(self, relationship: int) -> None:
        """Delete a relationship.

        Raises:
            KeyError: there is none of this id.
        """
        found = self.relationships[relationship]
        self._unlink(relationship)
        self._changed(self._link, relationship, found)

    def delete_node(self, node: int) -> None:
        """Delete a node that has no relationships any more.

        Raises:
            KeyError: there is none of this id.
            BuildError: it has relationships.
        """
        found = self.nodes[node]
        if found.outgoing or found.incoming:
            raise BuildError(f"The node {node} still has relationships.")
        self._relabel(node, ())
        del self.nodes[node]
        self._changed(self.nodes.__setitem__, node, found)

    def _take_back(self, undo: list[_Undo]) -> None:
        # row loop: every change, the last one first
        for back, arguments in reversed(undo):
            back(*arguments)
        self.version += 1

    def _relabel(self, node: int, labels: tuple[str, ...]) -> None:
        found = self.nodes[node]
        self._changed(self._put_labels, node, found.labels)
        self._put_labels(node, labels)

    def _put_labels(self, node: int, labels: tuple[str, ...]) -> None:
        found = self.nodes[node]
        for label in found.labels:
            if label not in labels:
                del self._labelled[label][node]
        for label in labels:
            self._labelled.setdefault(label, {})[node] = None
        found.labels = labels

    def _link(self, relationship: int, found: MutableRelationship) -> None:
        self.relationships[relationship] = found
        self.nodes[found.source].outgoing[relationship] = None
        self.nodes[found.target].incoming[relationship] = None

    def _unlink(self, relationship: int) -> None:
        found = self.relationships.pop(relationship)
        del self.nodes[found.source].outgoing[relationship]
        del self.nodes[found.target].incoming[relationship]

    def _forget_node(self, node: int) -> None:
        """Take back that a node was created."""
        self._put_labels(node, ())
        del self.nodes[node]
        self.next_node = node

    def _forget_relationship(self, relationship: int) -> None:
        self._unlink(relationship)
        self.next_relationship = relationship

    def _changed(self, back: Callable[..., object], *arguments: object) -> None:
        """Note a change and how to take it back."""
        self.version += 1
        if self._undo is not None:
            self._undo.append((back, arguments))


def _without_nulls(properties: Properties) -> dict[str, object]:
    return {key: value for key, value in properties.items() if value is not None}
