"""What an expression is evaluated in: the graph, parameters, budget and clock of one running query.

Passed down from cypher/query to every operator, evaluator and function; `PatternRunner` is how expressions reach the
pattern matcher without importing it.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Protocol

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.syntax import Expression, PathPattern, Subquery
from vaultgraph.frozen import frozen
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph


class PatternRunner(Protocol):
    """Matches patterns from within an expression, for every row of the bindings at once."""

    def exists(
        self, patterns: tuple[PathPattern, ...], where: Expression | None, bindings: Bindings, context: "Context"
    ) -> ValueColumn:
        """Whether the patterns match: Boolean per row, never null."""
        ...

    def count(
        self, patterns: tuple[PathPattern, ...], where: Expression | None, bindings: Bindings, context: "Context"
    ) -> ValueColumn:
        """How often they match: Int64 per row."""
        ...

    def collect(
        self,
        pattern: PathPattern,
        where: Expression | None,
        projection: Expression,
        bindings: Bindings,
        context: "Context",
    ) -> BoundColumn:
        """The projection of every match, a list per row."""
        ...

    def subquery(self, part: Subquery, bindings: Bindings, context: "Context") -> BoundColumn:
        """The value of a query within braces per row: Boolean, Int64 or a list."""
        ...


@frozen
class Context:
    """``text`` is the query (for spans of errors); ``now`` is aware, in local time, the same for the whole query.

    ``warnings`` are kept once each, about values that surely were meant otherwise. Without ``facts`` there are no
    indexes.
    """

    graph: Graph
    parameters: Mapping[str, object]
    text: str
    budget: Budget
    now: datetime
    patterns: PatternRunner
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    facts: Facts | None = None
