"""How many rows an operator will make, from what the graph knows for free: label ranges and adjacency offsets.

Used by the planner to choose where a pattern starts and by explain. Estimates never change an answer.
"""

from collections.abc import Iterable, Sequence

from vaultgraph.cypher.operators import Direction
from vaultgraph.cypher.syntax import (
    Binary,
    Comparison,
    Expression,
    HasLabels,
    LabelAnd,
    LabelAny,
    LabelExpression,
    LabelName,
    LabelNot,
    LabelOr,
    Property,
    Variable,
)
from vaultgraph.cypher.trees import variables_of
from vaultgraph.frozen import frozen
from vaultgraph.graph.csr import Csr
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph, RelationshipTable

_KEYS = frozenset({"id", "path", "title", "concept_id", "file_path"})  # properties that (nearly) name one node


def satisfies(labels: LabelExpression | None, present: Sequence[str]) -> bool:
    """Whether a node with the labels ``present`` satisfies the expression."""
    match labels:
        case None:
            return True
        case LabelName(name):
            return name in present
        case LabelAnd(parts):
            return all(satisfies(part, present) for part in parts)
        case LabelOr(parts):
            return any(satisfies(part, present) for part in parts)
        case LabelNot(part):
            return not satisfies(part, present)
        case LabelAny():
            return bool(present)


def label_ranges(graph: Graph, labels: LabelExpression | None) -> list[tuple[int, int]]:
    """The node id ranges (first, stop) that satisfy the expression, ascending, neighbours merged."""
    if labels is None:
        return [(0, graph.node_count)] if graph.node_count else []
    ranges: list[tuple[int, int]] = []
    name = labels.name if isinstance(labels, LabelName) else None
    for group in graph.groups:
        fits = satisfies(labels, group.labels) if name is None else name in group.labels
        if fits and group.first < group.stop:
            if ranges and ranges[-1][1] == group.first:
                ranges[-1] = (ranges[-1][0], group.stop)
            else:
                ranges.append((group.first, group.stop))
    return ranges


def chosen_tables(graph: Graph, types: Iterable[str]) -> list[RelationshipTable]:
    """The relationship tables of the types, all where none is given; unknown and repeated types are left out."""
    names = dict.fromkeys(types)
    if not names:
        return list(graph.relationships.values())
    return [graph.relationships[name] for name in names if name in graph.relationships]


@frozen
class Statistics:
    """Counts of one graph, computed when asked: each is a sum over a few ranges. ``facts`` are kept between queries."""

    facts: Facts

    @property
    def graph(self) -> Graph:
        """The graph the counts are of."""
        return self.facts.graph

    def nodes(self, labels: LabelExpression | None) -> int:
        """How many nodes satisfy the labels: exact."""
        return sum(stop - first for first, stop in label_ranges(self.graph, labels))

    def fan_out(self, labels: LabelExpression | None, types: tuple[str, ...], direction: Direction) -> float:
        """The average number of hops from a node that satisfies ``labels``."""
        nodes = self.nodes(labels)
        return self._hops(labels, types, direction) / nodes if nodes else 0.0

    def share(self, labels: LabelExpression | None, types: tuple[str, ...], direction: Direction) -> float:
        """Which part of all hops in the direction ends at a node that satisfies ``labels``."""
        if labels is None:
            return 1.0
        back: Direction = "in" if direction == "out" else "out" if direction == "in" else "both"
        total = self._hops(None, types, back)
        return self._hops(labels, types, back) / total if total else 0.0

    def _hops(self, labels: LabelExpression | None, types: tuple[str, ...], direction: Direction) -> int:
        ranges = label_ranges(self.graph, labels)
        total = 0
        for table in chosen_tables(self.graph, types):
            if direction != "in":
                total += _covered(table.outgoing, ranges)
            if direction != "out":
                total += _covered(table.incoming, ranges)
        return total


def _covered(csr: Csr, ranges: list[tuple[int, int]]) -> int:
    """How many relationships start in the ranges."""
    last = len(csr.offsets) - 1
    total = 0
    for first, stop in ranges:
        low, high = min(max(first - csr.first, 0), last), min(max(stop - csr.first, 0), last)
        total += int(csr.offsets[high]) - int(csr.offsets[low])
    return total


def selectivity(variable: str, predicates: Iterable[Expression], nodes: int) -> float:
    """Which part of ``nodes`` rows the predicates on only this variable keep."""
    part = 1.0
    for predicate in predicates:
        if variable in variables_of(predicate):
            part *= _kept(predicate, variable, nodes)
    return part


def _kept(predicate: Expression, variable: str, nodes: int) -> float:
    match predicate:
        case Comparison(first, (("=", second),)):
            for side, other in ((first, second), (second, first)):
                if isinstance(side, Property) and side.subject == Variable(variable):
                    if variables_of(other):
                        return 0.3
                    return 1 / max(nodes, 1) if side.key in _KEYS else 0.1
            return 0.5
        case Binary("IN", Property(Variable(name), key)) if name == variable:
            return min(1.0, 10 / max(nodes, 1)) if key in _KEYS else 0.3
        case Binary("STARTS WITH" | "ENDS WITH" | "CONTAINS" | "=~") | Comparison():
            return 0.3
        case HasLabels():
            return 0.3
        case _:
            return 0.7
