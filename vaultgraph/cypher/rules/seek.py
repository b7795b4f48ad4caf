"""Rule: a scan under comparisons of properties with constants asks an index, or looks only at one property's column.

Sorted indexes are there for the properties that name a node and for those a vault declares (see graph/facts); they take
equalities, IN, ranges and STARTS WITH. Without one an equality looks at the column of its property.
"""

from collections.abc import Iterable
from typing import Final

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import Filter, Plan, ScanNodes, SeekIndex, SeekNodes, Sought, SoughtBy
from vaultgraph.cypher.plans import inputs_of, with_inputs
from vaultgraph.cypher.syntax import (
    Binary,
    Comparison,
    Expression,
    LabelAnd,
    LabelExpression,
    LabelName,
    Property,
    Variable,
)
from vaultgraph.cypher.trees import is_constant

_FLIPPED: Final[dict[str, SoughtBy]] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_AS_WRITTEN: Final[dict[str, SoughtBy]] = {one: one for one in _FLIPPED.values()}


def seek(plan: Plan, statistics: Statistics) -> Plan:
    """The plan with seeks in place of such scans; other predicates stay above."""
    plan = _change(plan, statistics)  # from the top, so that all filters over a scan are seen at once
    return with_inputs(plan, tuple(seek(below, statistics) for below in inputs_of(plan)))


def _change(part: Plan, statistics: Statistics) -> Plan:
    predicates: list[Expression] = []
    below = part
    while isinstance(below, Filter):
        predicates.append(below.predicate)
        below = below.input
    if not predicates or not isinstance(below, ScanNodes):
        return part
    predicates.reverse()
    found = [(predicate, sought) for predicate in predicates if (sought := _sought(predicate, below.variable))]
    names = tuple(_names(below.labels))
    indexed = [
        one
        for _, sought in found
        for one in sought
        if all(statistics.facts.is_indexed(names, other.key) for other in sought)
    ]
    used: list[Expression] = []
    made: Plan = below
    if indexed:
        made, used = SeekIndex(below.variable, below.labels, tuple(indexed)), [one.predicate for one in indexed]
    else:
        for predicate, (first, *_) in found:
            if first.by in ("=", "IN"):
                many = first.by == "IN"
                made, used = SeekNodes(below.variable, below.labels, first.key, first.value, many), [predicate]
                break
    for predicate in predicates:
        if not any(predicate is one for one in used):  # 1 and true are equal in Python
            made = Filter(made, predicate)
    return made


def _sought(predicate: Expression, variable: str) -> tuple[Sought, ...]:
    """What the predicate demands of properties of ``variable``, if it says nothing else."""
    match predicate:
        case Comparison(first, rest):
            left, found = first, list[Sought]()
            for operator, right in rest:
                one = _compared(left, operator, right, variable, predicate)
                if one is None:
                    return ()
                found.append(one)
                left = right
            return tuple(found)
        case Binary("IN" | "STARTS WITH", Property(Variable(name), key), value) if name == variable:
            by: SoughtBy = "IN" if predicate.operator == "IN" else "STARTS WITH"
            return (Sought(key, by, value, predicate),) if is_constant(value) else ()
        case _:
            return ()


def _compared(left: Expression, operator: str, right: Expression, variable: str, whole: Expression) -> Sought | None:
    if operator not in _FLIPPED:
        return None
    sides: tuple[tuple[Expression, Expression, SoughtBy], ...] = (
        (left, right, _AS_WRITTEN[operator]),
        (right, left, _FLIPPED[operator]),
    )
    for subject, value, by in sides:
        if isinstance(subject, Property) and subject.subject == Variable(variable) and is_constant(value):
            return Sought(subject.key, by, value, whole)
    return None


def _names(labels: LabelExpression | None) -> Iterable[str]:
    """Labels that every node which satisfies ``labels`` has."""
    match labels:
        case LabelName(name):
            yield name
        case LabelAnd(parts):
            for part in parts:
                yield from _names(part)
        case _:
            return
