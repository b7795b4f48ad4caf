"""Rule: LIMIT over ORDER BY takes only the rows of its window, instead of all rows in order."""

from vaultgraph.cypher.operators import Limit, Plan, Skip, Sort, TopK
from vaultgraph.cypher.plans import transform


def topk(plan: Plan) -> Plan:
    """The plan with TopK in place of Limit over Sort."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Limit(Sort(source, keys), limit):
            return TopK(source, keys, None, limit)
        case Limit(Skip(Sort(source, keys), skip), limit):
            return TopK(source, keys, skip, limit)
        case _:
            return part
