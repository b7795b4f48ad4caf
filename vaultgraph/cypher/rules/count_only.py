"""Rule: what is only counted is never enumerated: a scan becomes the sizes of its ranges, a last hop its degrees."""

from dataclasses import replace

from vaultgraph.cypher.operators import Aggregate, CountNodes, Degree, Expand, Plan, ScanNodes
from vaultgraph.cypher.plans import transform
from vaultgraph.cypher.syntax import CountStar, FunctionCall, Variable
from vaultgraph.cypher.trees import variables_of

_HOPS = " hops"


def count_only(plan: Plan) -> Plan:
    """The plan with counting aggregates over scans and expansions answered from ranges and degrees."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Aggregate(ScanNodes(variable, labels), (), ((column, call),)) if _counts(call, (variable,)):
            return CountNodes(column, labels)
        case Aggregate(Expand() as hop, keys, calls) if calls and not hop.is_bound:
            made = (hop.target, *(() if hop.relationship is None else (hop.relationship,)))
            if not all(_counts(call, made) for _, call in calls):
                return part
            if any(not variables_of(expression).isdisjoint(made) for _, expression in keys):
                return part
            if any(name.startswith(" trail ") for name in hop.unlike):
                return part
            below = Degree(hop.input, hop.source, hop.types, hop.direction, _HOPS, hop.labels, hop.unlike)
            total = FunctionCall("sum", (Variable(_HOPS),))
            return replace(part, input=below, calls=tuple((name, total) for name, _ in calls))
        case _:
            return part


def _counts(call: FunctionCall | CountStar, made: tuple[str, ...]) -> bool:
    """Whether the aggregate counts every row: ``count(*)``, or a variable that is never null."""
    match call:
        case CountStar():
            return True
        case FunctionCall(name, (Variable(variable),), False):
            return name.lower() == "count" and variable in made
        case _:
            return False
