"""Rule: no column is made or carried along that nothing above reads.

Paths and relationship lists that are never used are not built at all; other columns are dropped before rows are
copied.
"""

from collections.abc import Iterable
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
    Keys,
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
    Trails,
    Union,
    Unwind,
)
from vaultgraph.cypher.plans import columns_of, walk
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.trees import variables_of

Names = frozenset[str]

_NONE: Names = frozenset()


def prune(plan: Plan, needed: Names) -> Plan:
    """The plan that makes the columns ``needed`` (perhaps more) and carries no others further than it must."""
    match plan:
        case Start() | ScanNodes() | SeekNodes() | SeekIndex() | CountNodes():
            return plan
        case Argument(variables):
            return Argument(tuple(name for name in variables if name in needed))
        case Expand() | ExpandBound() | ExpandVariable() | Reach() | ShortestPaths() | Degree() | BuildPath():
            return _pattern(plan, needed)
        case Tally(source, start):
            weighed = _NONE if plan.weight is None else variables_of(plan.weight)
            return replace(plan, input=prune(source, weighed | {start}))
        case Filter(_, predicate):
            return replace(plan, input=_below(plan.input, needed | variables_of(predicate)))
        case Extend() | Project() | Keep() | Aggregate() | Unwind() | CallProcedure():
            return _rows(plan, needed)
        case Sort(source, keys) | TopK(source, keys):
            return replace(plan, input=_below(source, needed | _read_by_keys(keys)))
        case Skip() | Limit():
            return replace(plan, input=_below(plan.input, needed))
        case Distinct(source):
            return Distinct(prune(source, columns_of(source)))
        case Union(parts, columns):
            return Union(tuple(prune(part, frozenset(columns)) for part in parts), columns)
        case Join(left, right, equal):
            read = needed.union(*(variables_of(side) for pair in equal for side in pair))
            return Join(_below(left, read), _below(right, read), equal)
        case LimitPieces(source, pipeline, count):
            pipeline = prune(pipeline, needed)
            return LimitPieces(_below(source, _handed_in(pipeline)), pipeline, count)
        case Optional() | Apply():
            return _each_row(plan, needed)
        case LimitEach(source, row):
            return replace(plan, input=_below(source, needed | {row}))
        case EmptyGroups(source, row, carried, calls):
            calls = tuple((name, call) for name, call in calls if name in needed)
            return replace(plan, input=prune(source, needed | {row, *carried}), calls=calls)
        case _:
            assert_never(plan)


def _below(plan: Plan, needed: Names) -> Plan:
    """The input of an operator that copies rows: pruned, and cut to what is needed where it still has more."""
    plan = prune(plan, needed)
    has = columns_of(plan)
    return plan if has <= needed else Keep(plan, tuple(sorted(has & needed)))


def _pattern(
    plan: Expand | ExpandBound | ExpandVariable | Reach | ShortestPaths | Degree | BuildPath, needed: Names
) -> Plan:
    match plan:
        case Expand():
            read = needed | {plan.source, *plan.unlike, *((plan.target,) if plan.is_bound else ())}
            shown = plan.relationship if plan.relationship in needed else None
            return replace(plan, input=_below(plan.input, read), relationship=shown)
        case ExpandBound():
            return replace(plan, input=_below(plan.input, needed | {plan.source, plan.relationship, plan.target}))
        case ExpandVariable() | Reach():
            read = needed | {plan.source, *plan.unlike, *_of_each(plan.trails)}
            read |= {plan.target} if plan.is_bound else _NONE
            return replace(plan, input=_below(plan.input, read), trails=_trails(plan.trails, needed))
        case ShortestPaths():
            read = needed | {plan.source, plan.target, *_of_each(plan.trails)}
            return replace(plan, input=_below(plan.input, read), trails=_trails(plan.trails, needed))
        case Degree():
            return replace(plan, input=_below(plan.input, needed | {plan.source, *plan.unlike}))
        case BuildPath(source, path, first, steps):
            if path not in needed:
                return prune(source, needed)
            return replace(plan, input=prune(source, needed | {first, *(name for name, _ in steps)}))


def _trails(trails: Trails, needed: Names) -> Trails:
    return replace(
        trails,
        column=trails.column if trails.column in needed else None,
        relationships=trails.relationships if trails.relationships in needed else None,
    )


def _of_each(trails: Trails) -> Names:
    return frozenset() if trails.each is None else variables_of(trails.each)


def _rows(plan: Extend | Project | Keep | Aggregate | Unwind | CallProcedure, needed: Names) -> Plan:
    match plan:
        case Extend(source, items):
            items = tuple((name, expression) for name, expression in items if name in needed)
            made = {name for name, _ in items}
            source = prune(source, (needed - made) | _read_by(items))
            return Extend(source, items) if items else source
        case Project(source, items):
            items = tuple((name, expression) for name, expression in items if name in needed)
            return Project(prune(source, _read_by(items)), items)
        case Keep(source, names):
            names = tuple(name for name in names if name in needed)
            source = prune(source, frozenset(names))
            return source if columns_of(source) == frozenset(names) else Keep(source, names)
        case Aggregate(source, keys, calls):
            calls = tuple((name, call) for name, call in calls if name in needed)
            return Aggregate(prune(source, _read_by((*keys, *calls))), keys, calls)
        case Unwind(source, expression, variable):
            # the list itself is read before rows are copied: dropping it above is what keeps it from being copied
            return Unwind(_below(source, (needed - {variable}) | variables_of(expression)), expression, variable)
        case CallProcedure():
            read = needed.union(*(variables_of(argument) for argument in plan.arguments))
            yields = tuple((column, name) for column, name in plan.yields if name in needed)
            return replace(plan, input=_below(plan.input, read), yields=yields)


def _read_by(items: Iterable[tuple[str, Expression]]) -> Names:
    return frozenset[str]().union(*(variables_of(expression) for _, expression in items))


def _read_by_keys(keys: Keys) -> Names:
    return frozenset[str]().union(*(variables_of(expression) for expression, _ in keys))


def _each_row(plan: Optional | Apply, needed: Names) -> Plan:
    introduced = tuple(name for name in plan.introduced if name in needed)
    inner = _below(plan.inner, frozenset((*introduced, plan.row)))
    read = (needed - set(introduced)) | (_handed_in(inner) - {plan.row})
    return replace(plan, input=_below(plan.input, read), inner=inner, introduced=introduced)


def _handed_in(pipeline: Plan) -> Names:
    """The columns of the Argument at the bottom of an inner plan, which reaches it by first inputs."""
    found = frozenset[str]()
    for part in walk(pipeline):
        if isinstance(part, Argument):
            found |= set(part.variables)
    return found
