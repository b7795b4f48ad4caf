"""Rule: LIMIT over ORDER BY takes only the rows of its window, instead of all rows in order.

What is only added to the rows, and not ordered by, is worked out for the rows of the window.
"""

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Extend, Keys, Limit, Plan, Skip, Sort, TopK
from vaultgraph.cypher.plans import transform
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.trees import variables_of


def topk(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with TopK in place of Limit over Sort."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Limit(Sort(source, keys), limit):
            return _top(source, keys, None, limit)
        case Limit(Skip(Sort(source, keys), skip), limit):
            return _top(source, keys, skip, limit)
        case _:
            return part


def _top(source: Plan, keys: Keys, skip: Expression | None, limit: Expression) -> Plan:
    if isinstance(source, Extend):
        made = {name for name, _ in source.items}
        if all(variables_of(key).isdisjoint(made) for key, _ in keys):
            return Extend(_top(source.input, keys, skip, limit), source.items)
    return TopK(source, keys, skip, limit)
