"""Rule: rows that differ only in what nobody reads are one row with a number, its weight.

Below an aggregate that only counts and sums, a hop to a node that is not read becomes its degree, and a hop after
which nothing but its end is read becomes a tally: one row for each end with the number of ways to it. Counts become
sums of weights. So paths are counted by products of degrees and never listed.
"""

from dataclasses import dataclass, field, replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import (
    Aggregate,
    Degree,
    Expand,
    ExpandVariable,
    Filter,
    Join,
    Plan,
    Project,
    Tally,
)
from vaultgraph.cypher.plans import columns_of, transform
from vaultgraph.cypher.syntax import Binary, Case, CountStar, Expression, FunctionCall, IsNull, Literal, Variable
from vaultgraph.cypher.trees import is_harmless, variables_of

Names = frozenset[str]
Weights = tuple[str, ...]  # columns whose product is the weight of a row

_BLIND = frozenset({"min", "max"})  # aggregates to which repeats make no difference


def weigh(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with weights in place of rows below aggregates that count."""
    return transform(plan, _change)


@dataclass(slots=True)
class _Made:
    """Names given so far to weight columns of one aggregate."""

    names: list[str] = field(default_factory=list[str])

    def new(self, kind: str) -> str:
        name = f" {kind} {len(self.names) + 1}" if self.names else f" {kind}"
        self.names.append(name)
        return name


def _change(part: Plan) -> Plan:
    if not isinstance(part, Aggregate) or not all(_can_weigh(call) for _, call in part.calls):
        return part
    needed = frozenset[str]().union(*(variables_of(tree) for _, tree in (*part.keys, *part.calls)))
    below, weights = _weighed(part.input, needed, _Made())
    if not weights:
        return part
    calls = tuple((name, _with_weight(call, weights)) for name, call in part.calls)
    return replace(part, input=below, calls=calls)


def _can_weigh(call: FunctionCall | CountStar) -> bool:
    match call:
        case CountStar():
            return True
        case FunctionCall(name, _, distinct):
            return distinct or name.lower() in _BLIND or name.lower() in ("count", "sum")


def _with_weight(call: FunctionCall | CountStar, weights: Weights) -> FunctionCall | CountStar:
    weight = _product(weights)
    match call:
        case CountStar():
            return FunctionCall("sum", (weight,), at=call.at)
        case FunctionCall(name, (argument,), False) if name.lower() == "sum":
            return replace(call, arguments=(Binary("*", argument, weight, at=argument.at),))
        case FunctionCall(name, (argument,), False) if name.lower() == "count":
            counted = Case(None, ((IsNull(argument, negated=False), Literal(0)),), weight)
            return FunctionCall("sum", (counted,), at=call.at)
        case _:
            return call


def _product(weights: Weights) -> Expression:
    product: Expression = Variable(weights[0])
    for name in weights[1:]:
        product = Binary("*", product, Variable(name))
    return product


def _weighed(plan: Plan, needed: Names, made: _Made) -> tuple[Plan, Weights]:
    """``plan`` with weights wherever only the columns ``needed`` are read above it; and the weight columns."""
    match plan:
        case Expand() if not plan.is_bound and plan.relationship not in needed:
            return _hop(plan, needed, made)
        case Expand(source) | ExpandVariable(source):
            return _passed(plan, source, (needed & columns_of(source)) | _read_by(plan), made)
        case Filter() if (hop := _filtered_hop(plan, needed)) is not None:
            source, predicate = hop
            below, weights = _weighed(source.input, (needed & columns_of(source.input)) | {source.source}, made)
            column = made.new("hops")
            where = (source.target, predicate)
            degree = Degree(below, source.source, source.types, source.direction, column, source.labels, (), where)
            return degree, (*weights, column)
        case Filter(source, predicate):
            return _passed(plan, source, needed | variables_of(predicate), made)
        case Project(source, items):
            kept = tuple((name, expression) for name, expression in items if name in needed)
            read = frozenset[str]().union(*(variables_of(expression) for _, expression in kept))
            below, weights = _weighed(source, read, made)
            return Project(below, (*kept, *((name, Variable(name)) for name in weights))), weights
        case Join(left, right, equal):
            read = needed.union(*(variables_of(side) for pair in equal for side in pair))
            left, of_left = _weighed(left, read & columns_of(left), made)
            right, of_right = _weighed(right, read & columns_of(right), made)
            return Join(left, right, equal), (*of_left, *of_right)
        case _:
            return plan, ()


def _filtered_hop(plan: Plan, needed: Names) -> tuple[Expand, Expression] | None:
    """The hop below filters of nothing but its end, which is not read above them, and all the filters as one."""
    predicate: Expression | None = None
    while isinstance(plan, Filter):
        predicate = plan.predicate if predicate is None else Binary("AND", plan.predicate, predicate)
        plan = plan.input
    if predicate is None or not isinstance(plan, Expand) or plan.is_bound or plan.unlike:
        return None
    if plan.target in needed or plan.relationship in needed or variables_of(predicate) - {plan.target}:
        return None
    return (plan, predicate) if is_harmless(predicate) else None


def _passed(plan: Expand | ExpandVariable | Filter, source: Plan, read: Names, made: _Made) -> tuple[Plan, Weights]:
    below, weights = _weighed(source, read, made)
    return (replace(plan, input=below) if weights else plan), weights


def _read_by(plan: Expand | ExpandVariable) -> Names:
    read = {plan.source, *plan.unlike, *((plan.target,) if plan.is_bound else ())}
    if isinstance(plan, ExpandVariable) and plan.trails.each is not None:
        read |= variables_of(plan.trails.each)
    return frozenset(read)


def _hop(plan: Expand, needed: Names, made: _Made) -> tuple[Plan, Weights]:
    """A hop to a new node along a relationship that nobody reads."""
    others = needed & columns_of(plan.input)
    if plan.target not in needed and not any(name.startswith(" trail ") for name in plan.unlike):
        below, weights = _weighed(plan.input, others | {plan.source, *plan.unlike}, made)
        column = made.new("hops")
        degree = Degree(below, plan.source, plan.types, plan.direction, column, plan.labels, plan.unlike)
        return degree, (*weights, column)
    if plan.target in needed and not others and not plan.unlike:
        below, weights = _weighed(plan.input, frozenset((plan.source,)), made)
        column = made.new("ways")
        weight = _product(weights) if weights else None
        tally = Tally(below, plan.source, plan.target, plan.types, plan.direction, column, weight, plan.labels, plan.at)
        return tally, (column,)
    return _passed(plan, plan.input, (needed & columns_of(plan.input)) | _read_by(plan), made)
