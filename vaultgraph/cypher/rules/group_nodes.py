"""Rule: grouping by properties of which one names the node is grouping by the node, and they are fetched afterwards.

Then they are fetched once a group, and after ORDER BY … LIMIT once a row of the answer.
"""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics, label_ranges
from vaultgraph.cypher.operators import Aggregate, Extend, Plan
from vaultgraph.cypher.plans import labels_of, transform
from vaultgraph.cypher.syntax import Expression, Property, Variable


def group_nodes(plan: Plan, statistics: Statistics) -> Plan:
    """The plan with such groups by node."""

    def change(part: Plan) -> Plan:
        if not isinstance(part, Aggregate):
            return part
        made = labels_of(part.input)
        for node in dict.fromkeys(_owner(expression) for _, expression in part.keys):
            if node is None or node not in made:
                continue
            ranges = label_ranges(statistics.graph, made[node])
            own = tuple(item for item in part.keys if _owner(item[1]) == node)
            if any(isinstance(one, Property) and statistics.facts.is_key(ranges, one.key) for _, one in own):
                kept = tuple(item for item in part.keys if item not in own)
                grouped = replace(part, keys=((node, Variable(node)), *kept))
                return Extend(grouped, own)
        return part

    return transform(plan, change)


def _owner(expression: Expression) -> str | None:
    """The variable whose property this is."""
    match expression:
        case Property(Variable(name)):
            return name
        case _:
            return None
