"""Rule: counting a value that every row has is counting rows, which fetches nothing.

Values are nodes of a pattern, and properties that every node of their label has.
"""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics, label_ranges
from vaultgraph.cypher.operators import Aggregate, Plan
from vaultgraph.cypher.plans import labels_of, transform
from vaultgraph.cypher.syntax import CountStar, FunctionCall, LabelExpression, Property, Variable


def count_rows(plan: Plan, statistics: Statistics) -> Plan:
    """The plan with ``count(*)`` in place of such counts."""

    def change(part: Plan) -> Plan:
        if not isinstance(part, Aggregate):
            return part
        made = labels_of(part.input)
        calls = tuple(
            (name, CountStar(at=call.at) if _is_always_there(call, made, statistics) else call)
            for name, call in part.calls
        )
        return part if calls == part.calls else replace(part, calls=calls)

    return transform(plan, change)


def _is_always_there(
    call: FunctionCall | CountStar, made: dict[str, LabelExpression | None], statistics: Statistics
) -> bool:
    match call:
        case FunctionCall(name, (argument,), False) if name.lower() == "count":
            match argument:
                case Variable(variable):
                    return variable in made
                case Property(Variable(variable), key) if variable in made:
                    ranges = label_ranges(statistics.graph, made[variable])
                    return statistics.facts.is_complete(ranges, key)
                case _:
                    return False
        case _:
            return False
