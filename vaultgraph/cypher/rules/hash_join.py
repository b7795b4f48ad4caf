"""Rule: an equality between the two sides of a cartesian product pairs rows by value instead of making every pair.

The filter stays, since grouping and ``=`` differ for NaN and for nulls inside lists.
"""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Filter, Join, Plan
from vaultgraph.cypher.plans import columns_of, transform
from vaultgraph.cypher.syntax import Comparison, Expression
from vaultgraph.cypher.trees import has_pattern, variables_of


def hash_join(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with keys in the joins that filters right above them allow."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    if not isinstance(part, Filter):
        return part
    lower = _given_key(part.input, part.predicate)
    return part if lower is None else Filter(lower, part.predicate)


def _given_key(below: Plan, predicate: Expression) -> Plan | None:
    match below:
        case Filter(source, other):
            lower = _given_key(source, predicate)
            return None if lower is None else Filter(lower, other)
        case Join(left, right, equal):
            key = _key_of(predicate, columns_of(left), columns_of(right))
            return None if key is None or key in equal else replace(below, equal=(*equal, key))
        case _:
            return None


def _key_of(predicate: Expression, left: frozenset[str], right: frozenset[str]) -> tuple[Expression, Expression] | None:
    match predicate:
        case Comparison(first, (("=", second),)) if not has_pattern(predicate):
            for one, other in ((first, second), (second, first)):
                if _is_side(one, left, right) and _is_side(other, right, left):
                    return one, other
            return None
        case _:
            return None


def _is_side(expression: Expression, side: frozenset[str], other: frozenset[str]) -> bool:
    names = variables_of(expression)
    return bool(names & side) and not names & other
