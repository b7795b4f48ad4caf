"""Walking and rebuilding plans, and the columns an operator makes; shared by the planner, the rules and explain."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from vaultgraph.cypher.operators import (
    Aggregate,
    Apply,
    Argument,
    BuildPath,
    CallProcedure,
    CountNodes,
    Degree,
    Distinct,
    EmptyGroups,
    Expand,
    ExpandBound,
    ExpandVariable,
    Extend,
    Filter,
    Join,
    Keep,
    Limit,
    LimitEach,
    LimitPieces,
    Optional,
    Plan,
    Project,
    Reach,
    ScanNodes,
    SeekIndex,
    SeekNodes,
    ShortestPaths,
    Skip,
    Sort,
    Start,
    Tally,
    TopK,
    Union,
    Unwind,
)
from vaultgraph.cypher.syntax import LabelExpression, Variable


def inputs_of(plan: Plan) -> tuple[Plan, ...]:
    """The operators directly below, in the order in which they run."""
    match plan:
        case Start() | Argument() | ScanNodes() | SeekNodes() | SeekIndex() | CountNodes():
            return ()
        case Join(left, right):
            return (left, right)
        case Union(parts):
            return parts
        case Optional(source, inner) | Apply(source, inner):
            return (source, inner)
        case LimitPieces(source, pipeline):
            return (source, pipeline)
        case _:
            return (plan.input,)


def with_inputs(plan: Plan, inputs: tuple[Plan, ...]) -> Plan:
    """The same operator over other operators, in the order of `inputs_of`."""
    if all(old is new for old, new in zip(inputs_of(plan), inputs, strict=True)):
        return plan
    match plan:
        case Start() | Argument() | ScanNodes() | SeekNodes() | SeekIndex() | CountNodes():
            return plan
        case Join():
            return replace(plan, left=inputs[0], right=inputs[1])
        case Union():
            return replace(plan, parts=inputs)
        case Optional() | Apply():
            return replace(plan, input=inputs[0], inner=inputs[1])
        case LimitPieces():
            return replace(plan, input=inputs[0], pipeline=inputs[1])
        case _:
            return replace(plan, input=inputs[0])


def transform(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """The tree with ``change`` applied to every operator, inputs first."""
    return change(with_inputs(plan, tuple(transform(below, change) for below in inputs_of(plan))))


def walk(plan: Plan) -> Iterator[Plan]:
    """The operator and all below it, from the top."""
    yield plan
    for below in inputs_of(plan):
        yield from walk(below)


def columns_of(plan: Plan) -> frozenset[str]:
    """The names of the columns the operator makes."""
    match plan:
        case Start():
            return frozenset()
        case Argument(variables):
            return frozenset(variables)
        case ScanNodes(variable) | SeekNodes(variable) | SeekIndex(variable) | CountNodes(variable):
            return frozenset((variable,))
        case Expand() | ExpandBound() | ExpandVariable() | Reach() | ShortestPaths() | Degree() | BuildPath():
            return columns_of(plan.input) | _made_by_pattern(plan)
        case Filter() | Distinct() | Sort() | TopK() | Skip() | Limit() | LimitEach() | EmptyGroups():
            return columns_of(plan.input)
        case Extend(source, items):
            return columns_of(source) | {name for name, _ in items}
        case Project(_, items):
            return frozenset(name for name, _ in items)
        case Keep(_, names):
            return frozenset(names)
        case Tally():
            return frozenset((plan.target, plan.column))
        case Aggregate(_, keys, calls):
            return frozenset(name for name, _ in (*keys, *calls))
        case LimitPieces(_, pipeline):
            return columns_of(pipeline)
        case Unwind(source, _, variable):
            return columns_of(source) | {variable}
        case Optional(source, _, introduced) | Apply(source, _, introduced):
            return columns_of(source) | set(introduced)
        case Join(left, right):
            return columns_of(left) | columns_of(right)
        case Union(_, columns):
            return frozenset(columns)
        case CallProcedure(source, _, _, yields):
            return columns_of(source) | {variable for _, variable in yields}
        case _:
            assert_never(plan)


def labels_of(plan: Plan) -> dict[str, LabelExpression | None]:
    """The node variables that are never null in the rows of ``plan``, each with the labels it surely satisfies.

    Only those are given that patterns make on the way down through operators which keep or drop whole rows.
    """
    match plan:
        case ScanNodes(variable, labels) | SeekNodes(variable, labels) | SeekIndex(variable, labels):
            return {variable: labels}
        case Expand() | ExpandVariable() | Reach():
            found = labels_of(plan.input)
            return found if plan.is_bound else {**found, plan.target: plan.labels}
        case Tally():
            return {plan.target: plan.labels}
        case Degree() | BuildPath() | ShortestPaths() | Filter() | Extend() | Sort() | Skip() | Limit() | TopK():
            return labels_of(plan.input)
        case Unwind() | Distinct() | CallProcedure():
            return labels_of(plan.input)
        case Keep(source, names):
            return {name: labels for name, labels in labels_of(source).items() if name in names}
        case Project(source, items):
            below = labels_of(source)
            return {
                name: below[expression.name]
                for name, expression in items
                if isinstance(expression, Variable) and expression.name in below
            }
        case Join(left, right):
            return {**labels_of(left), **labels_of(right)}
        case Optional(source) | Apply(source) | LimitEach(source):
            return labels_of(source)
        case _:
            return {}


def _made_by_pattern(
    plan: Expand | ExpandBound | ExpandVariable | Reach | ShortestPaths | Degree | BuildPath,
) -> set[str]:
    match plan:
        case Expand():
            return {plan.target, *_named(plan.relationship)}
        case ExpandBound():
            return {plan.source, plan.target}
        case Reach():
            return {plan.target}
        case ExpandVariable():
            return {plan.target, *_named(plan.trails.column), *_named(plan.trails.relationships)}
        case ShortestPaths():
            return {*_named(plan.trails.column), *_named(plan.trails.relationships)}
        case Degree():
            return {plan.column}
        case BuildPath():
            return {plan.path}


def _named(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
