"""Rule: a scan under an equality of one property with a constant looks only at the column of that property."""

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Filter, Plan, ScanNodes, SeekNodes
from vaultgraph.cypher.plans import inputs_of, with_inputs
from vaultgraph.cypher.syntax import Binary, Comparison, Expression, Property, Variable
from vaultgraph.cypher.trees import is_constant

_BEST = ("path", "id", "title")  # of several equalities the one that leaves fewest nodes


def seek(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with seeks in place of such scans; other predicates stay above."""
    plan = _change(plan)  # from the top, so that all filters over a scan are seen at once
    return with_inputs(plan, tuple(seek(below, _statistics) for below in inputs_of(plan)))


def _change(part: Plan) -> Plan:
    predicates: list[Expression] = []
    below = part
    while isinstance(below, Filter):
        predicates.append(below.predicate)
        below = below.input
    if not predicates or not isinstance(below, ScanNodes):
        return part
    found = [(one, seeking) for one in reversed(predicates) if (seeking := _seek_of(one, below)) is not None]
    if not found:
        return part
    used, best = min(found, key=lambda pair: _BEST.index(pair[1].key) if pair[1].key in _BEST else len(_BEST))
    made: Plan = best
    for predicate in reversed(predicates):
        if predicate is not used:
            made = Filter(made, predicate)
    return made


def _seek_of(predicate: Expression, scan: ScanNodes) -> SeekNodes | None:
    match predicate:
        case Comparison(first, (("=", second),)):
            for subject, value in ((first, second), (second, first)):
                if isinstance(subject, Property) and subject.subject == Variable(scan.variable) and is_constant(value):
                    return SeekNodes(scan.variable, scan.labels, subject.key, value, many=False)
            return None
        case Binary("IN", Property(Variable(name), key), value) if name == scan.variable and is_constant(value):
            return SeekNodes(scan.variable, scan.labels, key, value, many=True)
        case _:
            return None
