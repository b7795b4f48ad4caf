"""Rule: labels that every end of a hop has anyway are not checked."""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Degree, Expand, Plan, Tally
from vaultgraph.cypher.plans import transform


def drop_labels(plan: Plan, statistics: Statistics) -> Plan:
    """The plan without such checks."""

    def change(part: Plan) -> Plan:
        if not isinstance(part, Expand | Degree | Tally) or part.labels is None:
            return part
        is_sure = statistics.share(part.labels, part.types, part.direction) == 1.0
        return replace(part, labels=None) if is_sure else part

    return transform(plan, change)
