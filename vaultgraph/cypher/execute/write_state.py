"""A statement that writes, while it runs: the graph it changes, and how its expressions and patterns read that graph.

Made by cypher/write_query, used by the clauses in execute/write_…. Rows carry the ids of the mutable graph. Most
expressions read it directly, row by row; those that match patterns read a frozen copy, made again after a change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.deleted import DeletedNode, DeletedRelationship
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values, from_values
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.execute.rows import watched
from vaultgraph.cypher.execute.scalar import compile_scalar
from vaultgraph.cypher.execute.write_ids import frozen_rows, stable_rows
from vaultgraph.cypher.live import LiveGraph, deleted, live_graph
from vaultgraph.cypher.procedures import Procedure, Tables
from vaultgraph.cypher.syntax import Expression, FunctionCall, Span, Syntax
from vaultgraph.cypher.trees import any_tree, has_pattern, variables_of
from vaultgraph.cypher.values import NodeRef, RelationshipRef, type_name
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.freezing import Frozen, freeze
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.mutable import Entity, MutableGraph

Scope = dict[str, object]
Valued = Callable[[Mapping[str, object]], object]

_ADJACENCY: Final = frozenset({"degree", "indegree", "outdegree"})  # functions that count in columns
_VALUE: Final = "value"


class Writing:
    """``graph`` is changed as the statement goes on; ``now`` is the same for all of it."""

    def __init__(
        self,
        graph: MutableGraph,
        parameters: Mapping[str, object],
        text: str,
        budget: Budget,
        tables: Tables,
        procedures: Mapping[str, Procedure],
    ) -> None:
        self.graph = graph
        self.parameters = parameters
        self.text = text
        self.budget = budget
        self.tables = tables
        self.procedures = procedures
        self.now = datetime.now().astimezone()
        self.warnings: dict[str, None] = {}
        self._types: dict[int, str] = {}  # of deleted relationships
        self._doomed: dict[int, Span] = {}  # nodes to delete that still have relationships
        self._frozen: tuple[int, Frozen, Context, Statistics] | None = None
        self._live = self._context(live_graph(graph), Statistics(Facts(live_graph(graph))))

    def frozen(self) -> tuple[Frozen, Context, Statistics]:
        """The graph as it is now, in columns."""
        if self._frozen is None or self._frozen[0] != self.graph.version:
            frozen = freeze(self.graph)
            statistics = Statistics(Facts(frozen.graph))
            self._frozen = self.graph.version, frozen, self._context(frozen.graph, statistics), statistics
        return self._frozen[1:]

    def to_frozen(self, rows: Bindings) -> Bindings:
        """Rows with the ids of the frozen graph."""
        return frozen_rows(rows, self.frozen()[0], self._types)

    def to_stable(self, rows: Bindings) -> Bindings:
        """Rows of the frozen graph with the ids of the mutable one."""
        return stable_rows(rows, self.frozen()[0])

    def scopes(self, rows: Bindings, *parts: Syntax) -> Iterator[Scope]:
        """Each row as a map of its own, with the variables that ``parts`` name."""
        names = [name for name in sorted({one for part in parts for one in variables_of(part)}) if name in rows.columns]
        if not names:
            return (Scope() for _ in watched(range(rows.height), self.budget))
        cells = zip(*(column_values(rows.columns[name]) for name in names), strict=True)
        return (dict(zip(names, row, strict=True)) for row in watched(cells, self.budget))

    def values(self, tree: Expression, rows: Bindings) -> list[object]:
        """The value of an expression in every row, of the graph as it is before any of them is acted on.

        Raises:
            EvaluationError: as everywhere.
        """
        if _needs_columns(tree):
            return self._column(tree, rows)
        value = compile_scalar(tree, self._live)
        return [value(scope) for scope in self.scopes(rows, tree)]

    def valued(self, tree: Expression) -> Valued:
        """A function from the variables of a row to the value of an expression, of the graph at that moment."""
        if not _needs_columns(tree):
            return compile_scalar(tree, self._live)
        names = variables_of(tree)

        def run(scope: Mapping[str, object]) -> object:
            known = {name: from_values([value]) for name, value in scope.items() if name in names}
            return self._column(tree, Bindings(1, known))[0]

        return run

    def entity(self, value: object, what: str, at: Span) -> Entity:
        """The node or relationship that a reference means.

        Raises:
            EvaluationError: it is something else, or was deleted.
        """
        live = self._live.graph
        assert isinstance(live, LiveGraph)
        match value:
            case DeletedNode() | DeletedRelationship():
                raise self.error(deleted("node" if isinstance(value, NodeRef) else "relationship").reason, at)
            case NodeRef(one):
                return live.node(one)
            case RelationshipRef(one):
                return live.relationship(one)
            case _:
                raise self.error(f"{what} needs a node or relationship, not {type_name(value)}.", at)

    def forget(self, relationships: Iterable[int]) -> None:
        """Delete relationships; their types stay known."""
        for one in relationships:
            self._types[one] = self.graph.relationships[one].type
            self.graph.delete_relationship(one)

    def doom(self, nodes: Mapping[int, Span]) -> None:
        """Delete nodes, each as soon as it has no relationships; the spans say where the statement names them."""
        self._doomed.update(nodes)
        for one in [one for one in self._doomed if next(self.graph.relationships_of(one), None) is None]:
            self.graph.delete_node(one)
            del self._doomed[one]

    def check_doomed(self) -> None:
        """At the end of a statement: all nodes that it deletes are gone.

        Raises:
            EvaluationError: one still has relationships.
        """
        for at in self._doomed.values():
            raise self.error("The node still has relationships: delete them as well, or write DETACH DELETE.", at)

    def error(self, reason: str, at: Span) -> EvaluationError:
        """An error at a place of the statement."""
        return EvaluationError(reason, self.text, *at)

    def _column(self, tree: Expression, rows: Bindings) -> list[object]:
        used = variables_of(tree)
        known = Bindings(rows.height, {name: column for name, column in rows.columns.items() if name in used})
        column = evaluate(tree, self.to_frozen(known), self.frozen()[1])
        return column_values(self.to_stable(Bindings(rows.height, {_VALUE: column})).columns[_VALUE])

    def _context(self, graph: Graph, statistics: Statistics) -> Context:
        return Context(
            graph,
            self.parameters,
            self.text,
            self.budget,
            self.now,
            PlannedPatterns(self.tables, statistics, self.procedures),
            self.warnings,
        )


def _needs_columns(tree: Expression) -> bool:
    """Whether an expression reads relationships in bulk, which a graph that changes cannot give."""
    return has_pattern(tree) or any_tree(
        tree, lambda part: isinstance(part, FunctionCall) and part.name.lower() in _ADJACENCY
    )
