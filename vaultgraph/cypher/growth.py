"""The order in which a pattern grows: the node to start from and the hop to take next, by estimated rows.

Called by cypher/matching. Greedy: the cheapest hop from what is solved; the start is the node from which that costs
the fewest rows in all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from vaultgraph.cypher.estimate import Statistics, selectivity
from vaultgraph.cypher.operators import Direction
from vaultgraph.cypher.syntax import Expression, LabelExpression, NodePattern, RelationshipPattern
from vaultgraph.frozen import frozen

_FLIPPED: Mapping[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}
_STARTS = 8  # nodes with the fewest rows: one of them is the start
_LONGEST = 6  # hops beyond this change no choice
_DROPPED = 0.5  # what a row costs that is made and dropped, beside one that is kept
_SCANNED = 0.01  # and a node that is scanned and dropped


@frozen
class Hop:
    """One relationship pattern between two node variables, left to right as written."""

    left: str
    right: str
    pattern: RelationshipPattern

    @property
    def name(self) -> str:
        """The variable of the relationship."""
        return name_of(self.pattern)

    def other(self, node: str) -> str:
        """The node variable at the other end."""
        return self.right if node == self.left else self.left

    def direction_from(self, node: str) -> Direction:
        """The direction as seen from one end."""
        return self.pattern.direction if node == self.left else _FLIPPED[self.pattern.direction]


def name_of(pattern: NodePattern | RelationshipPattern) -> str:
    """The variable of a bound pattern, which always has one."""
    if pattern.variable is None:
        raise ValueError("patterns get their variables from bind")
    return pattern.variable


def hops_made(first: float, later: float, length: tuple[int, int | None] | None) -> float:
    """How many trails leave a node, by the average hops from it and from the nodes after it."""
    if length is None:
        return first
    least, most = length
    longest = min(_LONGEST, least + 3 if most is None else most)
    return sum(first * later ** (hops - 1) if hops else 1.0 for hops in range(min(least, longest), longest + 1))


@frozen
class Costs:
    """What is known of the node variables of one pattern; ``made`` keeps what was computed."""

    statistics: Statistics
    labels: Mapping[str, LabelExpression | None]
    predicates: Sequence[Expression]
    made: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])

    def next_hop(self, solved: set[str], pending: Sequence[Hop]) -> tuple[Hop, str] | None:
        """The cheapest hop from a solved node and that node; hops between solved nodes first."""
        candidates = [(hop, source) for hop in pending for source in (hop.left, hop.right) if source in solved]
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        for hop, source in candidates:
            if hop.other(source) in solved:
                return hop, hop.left
        return min(candidates, key=lambda pair: self._made(*pair) * self._kept(*pair, solved))

    def start(self, unsolved: Sequence[str], pending: Sequence[Hop]) -> str:
        """The node from which the pattern around the first unsolved one is cheapest."""
        component = _component(unsolved[0], pending)
        if len(component) == 1:
            return unsolved[0]
        hops = [hop for hop in pending if hop.left in component]
        starts = sorted((name for name in unsolved if name in component), key=self._rows_of)[:_STARTS]
        return min(starts, key=lambda name: self._cost_from(name, hops))

    def _rows_of(self, start: str) -> float:
        nodes = self.statistics.nodes(self.labels[start])
        return nodes * selectivity(start, self.predicates, nodes)

    def _made(self, hop: Hop, source: str) -> float:
        """How many rows one row becomes before anything about the other end is checked."""
        key = (hop.name, source)
        if key not in self.made:
            types, direction, length = hop.pattern.types, hop.direction_from(source), hop.pattern.length
            first = self.statistics.fan_out(self.labels[source], types, direction)
            later = first if length is None else self.statistics.fan_out(None, types, direction)
            self.made[key] = hops_made(first, later, length)
        return self.made[key]

    def _kept(self, hop: Hop, source: str, solved: set[str]) -> float:
        """Which part of the rows made is kept."""
        target = hop.other(source)
        labels = self.labels[target]
        nodes = self.statistics.nodes(labels)
        if target in solved:
            return 1 / max(nodes, 1)
        share = self.statistics.share(labels, hop.pattern.types, hop.direction_from(source))
        return share * selectivity(target, self.predicates, nodes)

    def _cost_from(self, start: str, pending: Sequence[Hop]) -> float:
        nodes = self.statistics.nodes(self.labels[start])
        rows = nodes * selectivity(start, self.predicates, nodes)
        cost = nodes * _SCANNED + rows
        solved = {start}
        while (choice := self.next_hop(solved, pending)) is not None:
            hop, source = choice
            made = rows * self._made(hop, source)
            rows = made * self._kept(hop, source, solved)
            cost += made * _DROPPED + rows
            solved.add(hop.other(source))
            pending = [other for other in pending if other is not hop]
        return cost


def _component(start: str, hops: Iterable[Hop]) -> set[str]:
    found = {start}
    waiting = list(hops)
    while True:
        joined = [hop for hop in waiting if hop.left in found or hop.right in found]
        if not joined:
            return found
        for hop in joined:
            found |= {hop.left, hop.right}
            waiting.remove(hop)
