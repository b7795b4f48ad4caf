"""Rule: a filter runs as low as its variables are bound, so that fewer rows are expanded, joined and projected.

Below a projection the predicate is put in terms of what is projected, where that is a variable or a property. Filters
never pass SKIP and LIMIT, and never enter an OPTIONAL MATCH from above.
"""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import (
    Aggregate,
    BuildPath,
    CallProcedure,
    Degree,
    Distinct,
    Expand,
    ExpandBound,
    ExpandVariable,
    Extend,
    Filter,
    Join,
    Keep,
    Optional,
    Plan,
    Project,
    ShortestPaths,
    Sort,
    Unwind,
)
from vaultgraph.cypher.plans import columns_of, transform
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.trees import can_substitute, is_plain, is_stable, substitute, variables_of


def push_filters(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with every filter as low as it can go."""

    def change(part: Plan) -> Plan:
        if isinstance(part, Filter) and is_stable(part.predicate):
            return _sink(part.input, part.predicate)
        return part

    return transform(plan, change)


def _sink(below: Plan, predicate: Expression) -> Plan:
    stays = Filter(below, predicate)
    match below:
        case Filter(source, other):
            lower = _sink(source, predicate)
            return stays if lower == Filter(source, predicate) else Filter(lower, other)
        case Sort() | Distinct() | Keep():
            return replace(below, input=_sink(below.input, predicate))
        case (
            Expand()
            | ExpandBound()
            | ExpandVariable()
            | ShortestPaths()
            | Degree()
            | BuildPath()
            | Unwind()
            | Optional()
            | CallProcedure()
        ):
            if _reads_only(predicate, below, below.input):
                return replace(below, input=_sink(below.input, predicate))
            return stays
        case Join():
            if _reads_only(predicate, below, below.left):
                return replace(below, left=_sink(below.left, predicate))
            if _reads_only(predicate, below, below.right):
                return replace(below, right=_sink(below.right, predicate))
            return stays
        case Project() | Extend():
            return _through_items(below, predicate)
        case Aggregate(_, keys) if keys and variables_of(predicate) & columns_of(below) <= {name for name, _ in keys}:
            values = {name: expression for name, expression in keys if name in variables_of(predicate)}
            return _through(below, predicate, values)
        case _:
            return stays


def _reads_only(predicate: Expression, scope: Plan, part: Plan) -> bool:
    return variables_of(predicate) & columns_of(scope) <= columns_of(part)


def _through_items(below: Project | Extend, predicate: Expression) -> Plan:
    used = variables_of(predicate)
    return _through(below, predicate, {name: expression for name, expression in below.items if name in used})


def _through(below: Project | Extend | Aggregate, predicate: Expression, values: dict[str, Expression]) -> Plan:
    if not all(is_plain(value) for value in values.values()) or not can_substitute(predicate, values):
        return Filter(below, predicate)
    return replace(below, input=_sink(below.input, substitute(predicate, values)))
