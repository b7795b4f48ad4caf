"""Rule: a scan that is only counted becomes the sizes of its ranges."""

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Aggregate, CountNodes, Plan, ScanNodes
from vaultgraph.cypher.plans import transform
from vaultgraph.cypher.syntax import CountStar, FunctionCall, Variable


def count_only(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with counting aggregates over scans answered from ranges."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Aggregate(ScanNodes(variable, labels), (), ((column, call),)) if _counts(call, (variable,)):
            return CountNodes(column, labels)
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
