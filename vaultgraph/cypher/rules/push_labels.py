"""Rule: a label predicate becomes part of the operator that brings the node in: a range of ids instead of a filter."""

from dataclasses import replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.matching import both_labels
from vaultgraph.cypher.operators import Expand, ExpandVariable, Filter, Plan, ScanNodes
from vaultgraph.cypher.plans import transform
from vaultgraph.cypher.syntax import HasLabels, LabelExpression, Variable


def push_labels(plan: Plan, _statistics: Statistics) -> Plan:
    """The plan with label predicates moved into scans and expansions right below them."""
    return transform(plan, _change)


def _change(part: Plan) -> Plan:
    match part:
        case Filter(below, HasLabels(Variable(name), labels)):
            return _given_labels(below, name, labels) or part
        case _:
            return part


def _given_labels(below: Plan, name: str, labels: LabelExpression) -> Plan | None:
    match below:
        case Filter(source, predicate):
            lower = _given_labels(source, name, labels)
            return None if lower is None else Filter(lower, predicate)
        case ScanNodes(variable) if variable == name:
            return replace(below, labels=both_labels(below.labels, labels))
        case Expand() | ExpandVariable() if below.target == name and not below.is_bound:
            return replace(below, labels=both_labels(below.labels, labels))
        case _:
            return None
