"""MERGE: for every row what matches the whole path, or else the path made as CREATE makes it.

Each row sees what was made for the rows before it. Candidates come from labels, or from a table by property values
where nothing that the clause changes can make it wrong.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.fetch import from_values, take_rows
from vaultgraph.cypher.execute.write_create import Maker, add_path, labels_of, names_of, parts_of
from vaultgraph.cypher.execute.write_set import prepared
from vaultgraph.cypher.execute.write_state import Scope, Writing
from vaultgraph.cypher.live import recalled
from vaultgraph.cypher.syntax import MapLiteral, NodePattern, RelationshipPattern
from vaultgraph.cypher.values import NodeRef, RelationshipRef, equals, group_key
from vaultgraph.cypher.write_syntax import Merge, SetLabels, SetProperty
from vaultgraph.errors import UnsupportedError
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.mutable import Entity

_MOST_NODES: Final = 100  # of the path: matching goes as deep

Given = Mapping[str, object]


def merge(clause: Merge, rows: Bindings, writing: Writing) -> Bindings:
    """A row for each match, or for what was made where nothing matched.

    Raises:
        EvaluationError: a property to merge by is null, or see execute/write_create and execute/write_set.
    """
    if len(clause.pattern.nodes) > _MOST_NODES:
        raise UnsupportedError(
            f"MERGE of a path with more than {_MOST_NODES} nodes: split it.", writing.text, *clause.at
        )
    maker = Maker(clause.pattern, rows, writing)
    matcher = _Matcher(clause, maker, writing)
    on_create, on_match = prepared(clause.on_create, writing), prepared(clause.on_match, writing)
    names = [name for name in names_of([clause.pattern]) if name not in rows.columns]
    positions: list[int] = []
    made: dict[str, list[object]] = {name: [] for name in names}
    # row loop: each row may make what the next one finds
    for row, scope in enumerate(writing.scopes(rows, clause)):
        found = matcher.matches(scope, row)
        acts = on_match
        if not found:
            acts = on_create
            maker.make(scope, row)
            matcher.note(scope, row)
            found = [scope]
        for one in found:
            for act in acts:
                act(one)
            positions.append(row)
            for name in names:
                made[name].append(one[name])
    places: Ids = np.array(positions, dtype=np.int64)
    kept = take_rows(rows, places)
    return Bindings(len(positions), {**kept.columns, **{name: from_values(cells) for name, cells in made.items()}})


class _Matcher:
    """Finds the path of one MERGE in the graph that changes."""

    def __init__(self, clause: Merge, maker: Maker, writing: Writing) -> None:
        self._pattern = clause.pattern
        self._maker = maker
        self._writing = writing
        self._keys = _stable_keys(clause)
        self._table: dict[object, list[int]] | None = None

    def matches(self, scope: Scope, row: int) -> list[Scope]:
        """The rows that come of this one, all found before any of them is acted on.

        Raises:
            EvaluationError: a property is null, or a known node is null or gone.
        """
        pattern = self._pattern
        given = [properties(scope, row) for properties in self._maker.properties]
        for part, properties in zip(parts_of(pattern), given, strict=True):
            for key, value in properties.items():
                if value is None:
                    raise self._writing.error(f"MERGE cannot look for null, and '{key}' is null.", part.at)
        for node in pattern.nodes:
            if node.variable in scope:
                self._maker.known(scope, node)
        nodes, steps = given[: len(pattern.nodes)], given[len(pattern.nodes) :]
        parts = list(zip(pattern.relationships, pattern.nodes[1:], steps, nodes[1:], strict=True))
        first, wanted = pattern.nodes[0], nodes[0]
        if parts and first.variable not in scope and pattern.nodes[-1].variable in scope:
            # From the end that is known: the other one may be any node.
            first, wanted = pattern.nodes[-1], nodes[-1]
            turned = [_turned(step) for step in reversed(pattern.relationships)]
            parts = list(zip(turned, pattern.nodes[-2::-1], steps[::-1], nodes[-2::-1], strict=True))
        found: list[Scope] = []
        for one in self._candidates(first, wanted, scope):
            start = {**scope, first.variable or "": NodeRef(one)}
            found += self._extended(one, parts, start, frozenset())
        for one in found:
            add_path(pattern, one)
        return found

    def note(self, scope: Scope, row: int) -> None:
        """Take a node that was made for a row into the table."""
        value = scope[self._pattern.nodes[0].variable or ""]
        if self._table is not None and isinstance(value, NodeRef):
            self._table.setdefault(self._key(self._maker.properties[0](scope, row)), []).append(value.id)

    def _candidates(self, node: NodePattern, wanted: Given, scope: Scope) -> Iterator[int]:
        known = scope.get(node.variable or "")
        if isinstance(known, NodeRef):
            yield known.id
            return
        # row loop: nodes are Python objects; as many as have the label, or are in the table for these values
        for one in self._likely(node, wanted):
            if self._fits(one, node, wanted):
                yield one

    def _likely(self, node: NodePattern, wanted: Given) -> Iterable[int]:
        graph = self._writing.graph
        labels = labels_of(node)
        every = min((graph.nodes_with(label) for label in labels), key=len) if labels else graph.nodes
        if not self._keys or node is not self._pattern.nodes[0]:
            return list(every)
        if self._table is None:
            self._table = {}
            for one in every:
                properties = graph.nodes[one].properties
                key = self._key({name: recalled(properties.get(name)) for name in self._keys})
                self._table.setdefault(key, []).append(one)
        return self._table.get(self._key(wanted), [])

    def _key(self, properties: Given) -> object:
        return tuple(group_key(properties.get(name)) for name in self._keys)

    def _extended(
        self,
        node: int,
        parts: list[tuple[RelationshipPattern, NodePattern, Given, Given]],
        scope: Scope,
        used: frozenset[int],
    ) -> Iterator[Scope]:
        """``scope`` with the rest of the path from ``node`` on, in every way there is."""
        if not parts:
            yield scope
            return
        step, end, wanted, end_wanted = parts[0]
        graph = self._writing.graph
        known = scope.get(end.variable or "")
        ends = known.id if isinstance(known, NodeRef) else None
        for one, other in self._steps(node, step) if ends is None else self._between(node, ends, step):
            if one in used or not _has(graph.relationships[one], wanted):
                continue
            if ends is None and not self._fits(other, end, end_wanted):
                continue
            more = {**scope, step.variable or "": RelationshipRef(one), end.variable or "": NodeRef(other)}
            yield from self._extended(other, parts[1:], more, used | {one})

    def _between(self, node: int, end: int, step: RelationshipPattern) -> list[tuple[int, int]]:
        """The relationships from ``node`` to ``end``, looked for where there are fewer: the other may be a hub."""
        here, there = self._writing.graph.nodes[node], self._writing.graph.nodes[end]
        if len(here.outgoing) + len(here.incoming) <= len(there.outgoing) + len(there.incoming):
            return [(one, other) for one, other in self._steps(node, step) if other == end]
        return [(one, end) for one, other in self._steps(end, _turned(step)) if other == node]

    def _steps(self, node: int, step: RelationshipPattern) -> list[tuple[int, int]]:
        """The relationships of the type at ``node`` in the direction, each with its other end."""
        graph = self._writing.graph
        here = graph.nodes[node]
        ids = {"out": here.outgoing, "in": here.incoming}.get(step.direction)
        found = graph.relationships_of(node) if ids is None else iter(ids)
        ends = ((one, graph.relationships[one]) for one in found)
        return [
            (one, found.target if found.source == node else found.source)
            for one, found in ends
            if found.type == step.types[0]
        ]

    def _fits(self, one: int, node: NodePattern, wanted: Given) -> bool:
        found = self._writing.graph.nodes[one]
        return all(label in found.labels for label in labels_of(node)) and _has(found, wanted)


def _has(entity: Entity, wanted: Given) -> bool:
    return all(equals(recalled(entity.properties.get(key)), value) is True for key, value in wanted.items())


def _turned(step: RelationshipPattern) -> RelationshipPattern:
    """The relationship as seen from its other end."""
    match step.direction:
        case "out":
            return replace(step, direction="in")
        case "in":
            return replace(step, direction="out")
        case "both":
            return step


def _stable_keys(clause: Merge) -> tuple[str, ...]:
    """The keys of a node alone that a table can be made by: no change of the clause touches them or its labels."""
    properties = clause.pattern.nodes[0].properties
    if clause.pattern.relationships or not isinstance(properties, MapLiteral):
        return ()
    keys = tuple(sorted({key for key, _ in properties.entries}))
    for change in (*clause.on_create, *clause.on_match):
        if isinstance(change, SetProperty):
            if change.key in keys:
                return ()
        elif not isinstance(change, SetLabels) or set(change.labels) & set(labels_of(clause.pattern.nodes[0])):
            return ()
    return keys
