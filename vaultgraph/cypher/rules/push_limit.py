"""Rule: LIMIT over a pipeline that starts at a scan runs the pipeline piece by piece and stops when it has enough."""

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import (
    Argument,
    BuildPath,
    CallProcedure,
    Expand,
    ExpandBound,
    ExpandVariable,
    Extend,
    Filter,
    Join,
    Keep,
    Limit,
    LimitPieces,
    Optional,
    Plan,
    Project,
    ScanNodes,
    SeekIndex,
    SeekNodes,
    ShortestPaths,
    Skip,
    Unwind,
)
from vaultgraph.cypher.plans import columns_of, inputs_of, transform, with_inputs
from vaultgraph.cypher.syntax import Binary, Expression


def push_limit(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with LimitPieces where a limit stands over operators that treat every row by itself."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Limit(Skip(source, skip), limit):
            made = _in_pieces(source, Binary("+", skip, limit, at=limit.at))
            return part if made is None else Limit(Skip(made, skip), limit)
        case Limit(source, limit):
            return _in_pieces(source, limit) or part
        case _:
            return part


def _in_pieces(pipeline: Plan, count: Expression) -> Plan | None:
    split = _split(pipeline)
    if split is None or isinstance(split[1], Argument):
        return None
    return LimitPieces(split[0], split[1], count)


def _split(plan: Plan) -> tuple[Plan, Plan] | None:
    """The scan at the bottom, and what is above it with an Argument in its place."""
    match plan:
        case ScanNodes() | SeekNodes() | SeekIndex():
            return plan, Argument(tuple(sorted(columns_of(plan))))
        case (
            Expand()
            | ExpandBound()
            | ExpandVariable()
            | ShortestPaths()
            | BuildPath()
            | Filter()
            | Extend()
            | Project()
            | Keep()
            | Unwind()
            | Optional()
            | Join()
            | CallProcedure()
        ):
            first, *rest = inputs_of(plan)
            below = _split(first)
            return None if below is None else (below[0], with_inputs(plan, (below[1], *rest)))
        case _:
            return None
