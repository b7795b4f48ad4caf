"""How many rows each operator of a plan is expected to make, for EXPLAIN.

Uses the statistics the planner chooses by; nothing is run.
"""

from vaultgraph.cypher.estimate import Statistics, selectivity
from vaultgraph.cypher.growth import hops_made
from vaultgraph.cypher.operators import (
    Aggregate,
    Apply,
    Argument,
    CallProcedure,
    Expand,
    ExpandVariable,
    Filter,
    Join,
    Limit,
    LimitPieces,
    Optional,
    Plan,
    Reach,
    ScanNodes,
    SeekIndex,
    SeekNodes,
    Skip,
    TopK,
    Union,
    Unwind,
)
from vaultgraph.cypher.plans import inputs_of, walk
from vaultgraph.cypher.syntax import Expression, LabelExpression, Literal
from vaultgraph.cypher.trees import variables_of

_UNWOUND = 10  # rows a list is taken to have


def estimated_rows(plan: Plan, statistics: Statistics, outer: float = 1.0) -> float:
    """How many rows the operator is expected to make; ``outer`` is what an Argument stands for."""
    inputs = [estimated_rows(part, statistics, outer) for part in inputs_of(plan)] or [1.0]
    rows = inputs[0]
    match plan:
        case Argument():
            return outer
        case ScanNodes(_, labels):
            return statistics.nodes(labels)
        case SeekNodes(_, labels, key):
            return 1.0 if key in ("id", "path", "title") else max(1.0, statistics.nodes(labels) * 0.1)
        case SeekIndex(variable, labels, sought):
            nodes = statistics.nodes(labels)
            return max(1.0, nodes * selectivity(variable, {one.predicate for one in sought}, nodes))
        case Expand() | ExpandVariable() | Reach():
            return rows * _fan_out(plan, statistics)
        case Filter(_, predicate):
            names = sorted(variables_of(predicate))
            return rows * (selectivity(names[0], [predicate], int(rows)) if names else 0.5)
        case Aggregate(_, keys):
            return max(1.0, rows**0.5) if keys else 1.0
        case Limit(_, count) | TopK(_, _, _, count):
            return min(rows, _number(count, rows))
        case LimitPieces(source, pipeline, count):
            return min(estimated_rows(pipeline, statistics, estimated_rows(source, statistics)), _number(count, rows))
        case Skip(_, count):
            return max(0.0, rows - _number(count, 0))
        case Unwind():
            return rows * _UNWOUND
        case Apply(source, inner, _, _, kind):
            return rows if kind == "unit" else estimated_rows(inner, statistics, rows)
        case Optional(source, inner):
            return max(rows, estimated_rows(inner, statistics, rows))
        case Join(_, _, equal):
            return max(inputs) if equal else inputs[0] * inputs[1]
        case Union():
            return sum(inputs)
        case CallProcedure():
            return rows * _UNWOUND
        case _:
            return rows


def _fan_out(plan: Expand | ExpandVariable | Reach, statistics: Statistics) -> float:
    if isinstance(plan, Expand):
        types, direction, length = plan.types, plan.direction, None
    else:
        types, direction, length = plan.trails.types, plan.trails.direction, (plan.trails.least, plan.trails.most)
    sources = _labels_of(plan.source, plan.input)
    later = statistics.fan_out(None, types, direction)
    factor = hops_made(statistics.fan_out(sources, types, direction), later, length)
    if plan.is_bound:
        return factor / max(statistics.nodes(_labels_of(plan.target, plan.input)), 1)
    return factor * statistics.share(plan.labels, types, direction)


def _labels_of(variable: str, plan: Plan) -> LabelExpression | None:
    """The labels a column is known to have from the operator that brought it in."""
    for part in walk(plan):
        match part:
            case ScanNodes(name, labels) | SeekNodes(name, labels) | SeekIndex(name, labels) if name == variable:
                return labels
            case Expand() | ExpandVariable() if part.target == variable and not part.is_bound:
                return part.labels
            case _:
                continue
    return None


def _number(count: Expression, otherwise: float) -> float:
    return count.value if isinstance(count, Literal) and isinstance(count.value, int) else otherwise
