"""CREATE: the nodes and relationships of its patterns, made for every row; execute/write_merge makes them here too."""

from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Final

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.fetch import from_values
from vaultgraph.cypher.execute.write_state import Scope, Writing
from vaultgraph.cypher.execute.write_values import property_values
from vaultgraph.cypher.kinds import label_names
from vaultgraph.cypher.syntax import (
    Expression,
    MapLiteral,
    NodePattern,
    Parameter,
    PathPattern,
    RelationshipPattern,
)
from vaultgraph.cypher.trees import variables_of
from vaultgraph.cypher.values import NodeRef, PathRef, Refusal, RelationshipRef, is_map, type_name
from vaultgraph.cypher.write_syntax import Create

Part = NodePattern | RelationshipPattern
Given = Callable[[Scope, int], Mapping[str, object]]
"""The property map of a part for a row (its variables, its number)."""

_NONE: Final[Mapping[str, object]] = MappingProxyType({})


class Maker:
    """Makes what is new of one path. ``properties`` are those of its parts, in the order of `parts_of`.

    They are worked out for all ``rows`` before anything is made, but for those that name one of ``own``, the variables
    that the clause makes.
    """

    def __init__(self, pattern: PathPattern, rows: Bindings, writing: Writing, own: Set[str] = frozenset()) -> None:
        self.pattern = pattern
        self.properties = [_properties(part, rows, writing, own) for part in parts_of(pattern)]
        self._writing = writing

    def make(self, scope: Scope, row: int) -> None:
        """Make every node that ``scope`` lacks, then the relationships, and put them into it.

        Raises:
            EvaluationError: a node that is known is null or was deleted, or a property cannot be what it should.
        """
        graph = self._writing.graph
        pattern = self.pattern
        for place, node in enumerate(pattern.nodes):
            name = node.variable or ""
            if name not in scope:
                scope[name] = NodeRef(graph.create_node(labels_of(node), self._stored(node, place, scope, row)))
        ends = [self.known(scope, node) for node in pattern.nodes]
        for number, step in enumerate(pattern.relationships):
            source, target = ends[number], ends[number + 1]
            if step.direction == "in":
                source, target = target, source
            properties = self._stored(step, len(ends) + number, scope, row)
            made = graph.create_relationship(step.types[0], source, target, properties)
            scope[step.variable or ""] = RelationshipRef(made)
        add_path(pattern, scope)

    def known(self, scope: Scope, node: NodePattern) -> int:
        """The id of a node of the pattern that is in ``scope``.

        Raises:
            EvaluationError: it is none, or was deleted.
        """
        value = scope[node.variable or ""]
        if not isinstance(value, NodeRef):
            what = "is null: there is nothing to relate" if value is None else f"is {type_name(value)}, not a node"
            raise self._writing.error(f"The variable '{node.variable}' {what}.", node.at)
        self._writing.entity(value, "A relationship", node.at)
        return value.id

    def _stored(self, part: Part, place: int, scope: Scope, row: int) -> dict[str, object]:
        try:
            return property_values(self.properties[place](scope, row))
        except Refusal as refusal:
            raise self._writing.error(str(refusal), part.at) from None


def create(clause: Create, rows: Bindings, writing: Writing) -> Bindings:
    """The rows with what was made for each.

    Raises:
        EvaluationError: see `Maker.make`.
    """
    names = [name for name in names_of(clause.patterns) if name not in rows.columns]
    makers = [Maker(pattern, rows, writing, set(names)) for pattern in clause.patterns]
    made: dict[str, list[object]] = {name: [] for name in names}
    # row loop: each makes its own nodes and relationships
    for row, scope in enumerate(writing.scopes(rows, clause)):
        for maker in makers:
            maker.make(scope, row)
        for name in names:
            made[name].append(scope[name])
    return Bindings(rows.height, {**rows.columns, **{name: from_values(cells) for name, cells in made.items()}})


def parts_of(pattern: PathPattern) -> tuple[Part, ...]:
    """The nodes, then the relationships."""
    return (*pattern.nodes, *pattern.relationships)


def names_of(patterns: Sequence[PathPattern]) -> list[str]:
    """All variables of bound patterns, each once."""
    named = [one for pattern in patterns for one in (*parts_of(pattern), pattern)]
    return list(dict.fromkeys(one.variable for one in named if one.variable is not None))


def add_path(pattern: PathPattern, scope: Scope) -> None:
    """Put the path into ``scope`` where the pattern names it and all its parts are there."""
    if pattern.variable is None:
        return
    nodes = [scope[node.variable or ""] for node in pattern.nodes]
    steps = [scope[step.variable or ""] for step in pattern.relationships]
    scope[pattern.variable] = PathRef(
        tuple(one.id for one in nodes if isinstance(one, NodeRef)),
        tuple(one.id for one in steps if isinstance(one, RelationshipRef)),
    )


def labels_of(node: NodePattern) -> tuple[str, ...]:
    """The labels a node of the pattern gets."""
    return tuple(label.name for label in label_names(node.labels))


def _properties(part: Part, rows: Bindings, writing: Writing, own: Set[str]) -> Given:
    match part.properties:
        case None:
            return lambda _scope, _row: _NONE
        case Parameter():
            given = writing.valued(part.properties)({})
            if not is_map(given):
                raise writing.error(f"All properties come from a map, not {type_name(given)}.", part.properties.at)
            return lambda _scope, _row: given
        case MapLiteral(entries):
            makers = {key: _value(value, rows, writing, own) for key, value in entries}
            return lambda scope, row: {key: make(scope, row) for key, make in makers.items()}


def _value(tree: Expression, rows: Bindings, writing: Writing, own: Set[str]) -> Callable[[Scope, int], object]:
    if variables_of(tree) & own:
        value = writing.valued(tree)
        return lambda scope, _row: value(scope)
    cells = writing.values(tree, rows)
    return lambda _scope, row: cells[row]
