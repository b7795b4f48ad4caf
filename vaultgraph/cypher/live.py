"""A graph that is being changed, read entity by entity: what expressions of clauses that write see.

cypher/entities reads it in place of columns. Its ids are those of the mutable graph. Patterns cannot be matched on it.
"""

import json
from collections.abc import Mapping
from typing import cast

from vaultgraph.cypher.stored_values import restored
from vaultgraph.errors import EvaluationError
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.mutable import MutableGraph, MutableNode, MutableRelationship, Written
from vaultgraph.note.records import ValueKind


@frozen
class LiveGraph(Graph):
    """Every read sees ``changing`` as it is at that moment; the columns are empty."""

    changing: MutableGraph

    def node(self, node: int) -> MutableNode:
        """The node of an id.

        Raises:
            EvaluationError: it was deleted.
        """
        found = self.changing.nodes.get(node)
        if found is None:
            raise deleted("node")
        return found

    def relationship(self, relationship: int) -> MutableRelationship:
        """The relationship of an id.

        Raises:
            EvaluationError: it was deleted.
        """
        found = self.changing.relationships.get(relationship)
        if found is None:
            raise deleted("relationship")
        return found


def live_graph(mutable: MutableGraph) -> LiveGraph:
    """The view of a mutable graph."""
    return LiveGraph(0, (), {}, {}, mutable)


def read(properties: Mapping[str, object]) -> dict[str, object]:
    """Properties as values of a query."""
    return {key: recalled(value) for key, value in properties.items()}


def recalled(value: object) -> object:
    """A property of a mutable graph as the value of a query."""
    match value:
        case Written(kind, text):
            return json.loads(text) if kind == ValueKind.JSON else restored(kind, text)
        case list():
            return [recalled(item) for item in cast("list[object]", value)]
        case _:
            return value


def deleted(what: str) -> EvaluationError:
    """The error for reading what the statement has deleted."""
    return EvaluationError(f"The {what} was deleted by this statement: read what is needed of it before DELETE.")
