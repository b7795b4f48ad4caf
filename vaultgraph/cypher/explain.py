"""A plan in words: one line an operator, for EXPLAIN and for tests of rules.

Called by cypher/query. Hidden columns are shown without the space they start with.
"""

import re

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.operators import (
    Aggregate,
    Apply,
    Argument,
    BuildPath,
    CallProcedure,
    CountNodes,
    Degree,
    Direction,
    Distinct,
    EmptyGroups,
    Expand,
    ExpandBound,
    ExpandVariable,
    Extend,
    Filter,
    Items,
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
from vaultgraph.cypher.plan_rows import estimated_rows
from vaultgraph.cypher.plans import inputs_of
from vaultgraph.cypher.printer import print_expression
from vaultgraph.cypher.syntax import Expression, HasLabels, LabelExpression, Variable
from vaultgraph.frozen import frozen

_HIDDEN = re.compile(r"` ([^`]*)`")


@frozen
class Line:
    """One operator; ``depth`` is 0 at the top, ``rows`` estimated."""

    depth: int
    operator: str
    details: str
    rows: float
    plan: Plan


def explain(plan: Plan, statistics: Statistics) -> list[Line]:
    """The operators from the top, inputs below the operator that reads them."""
    return _lines(plan, statistics, 0, 1.0)


def plan_text(plan: Plan) -> str:
    """The plan as indented lines, without estimates: how tests write plans."""
    return "\n".join(_text(plan, 0))


def _text(plan: Plan, depth: int) -> list[str]:
    own = f"{'  ' * depth}{type(plan).__name__} {_details(plan)}".rstrip()
    return [own, *(line for below in inputs_of(plan) for line in _text(below, depth + 1))]


def _lines(plan: Plan, statistics: Statistics, depth: int, outer: float) -> list[Line]:
    own = Line(depth, type(plan).__name__, _details(plan), estimated_rows(plan, statistics, outer), plan)
    match plan:
        case Optional(source, inner) | Apply(source, inner) | LimitPieces(source, inner):
            handed_in = estimated_rows(source, statistics, outer)
            return [
                own,
                *_lines(source, statistics, depth + 1, outer),
                *_lines(inner, statistics, depth + 1, handed_in),
            ]
        case _:
            below = (_lines(part, statistics, depth + 1, outer) for part in inputs_of(plan))
            return [own, *(line for lines in below for line in lines)]


def _details(plan: Plan) -> str:
    match plan:
        case Start() | Distinct():
            return ""
        case Argument(variables):
            return _names(variables)
        case ScanNodes(variable, labels):
            return _node(variable, labels)
        case SeekNodes(variable, labels, key, value, many):
            return f"{_node(variable, labels)} {key} {'IN' if many else '='} {_shown(value)}"
        case SeekIndex(variable, labels, sought):
            shown = (f"{one.key} {one.by} {_shown(one.value)}" for one in sought)
            return f"{_node(variable, labels)} {' AND '.join(shown)}"
        case CountNodes(column, labels):
            return f"{_name(column)} = count of {_node('', labels)}"
        case Expand() | ExpandBound() | ExpandVariable() | Reach() | ShortestPaths() | Degree() | Tally() | BuildPath():
            return _pattern_details(plan)
        case Filter(_, predicate):
            return _shown(predicate)
        case Extend(_, items) | Project(_, items):
            return _items(items)
        case Keep(_, names):
            return _names(names)
        case Aggregate(_, keys, calls):
            return f"{_items(calls)} by {_items(keys)}" if keys else _items(calls)
        case Sort(_, keys):
            return _keys(keys)
        case TopK(_, keys, skip, limit):
            return f"{_keys(keys)}{'' if skip is None else f' SKIP {_shown(skip)}'} LIMIT {_shown(limit)}"
        case Skip(_, count) | Limit(_, count) | LimitPieces(_, _, count):
            return _shown(count)
        case Unwind(_, source, variable):
            return f"{_shown(source)} AS {_name(variable)}"
        case Optional(_, _, introduced) | Apply(_, _, introduced):
            return _names(introduced)
        case LimitEach(_, row, skip, limit):
            parts = [("SKIP", skip), ("LIMIT", limit)]
            shown = " ".join(f"{word} {_shown(count)}" for word, count in parts if count is not None)
            return f"{shown} of each {_name(row)}"
        case EmptyGroups(_, row, _, calls):
            return f"{_items(calls)} of each {_name(row)}"
        case Join(_, _, equal):
            return ", ".join(f"{_shown(one)} = {_shown(other)}" for one, other in equal)
        case Union(_, columns):
            return _names(columns)
        case CallProcedure(_, name, _, yields):
            return f"{name} YIELD {', '.join(f'{column} AS {_name(variable)}' for column, variable in yields)}"


def _pattern_details(
    plan: Expand | ExpandBound | ExpandVariable | Reach | ShortestPaths | Degree | Tally | BuildPath,
) -> str:
    match plan:
        case Expand():
            hop = _hop(plan.relationship, plan.types, plan.direction, "")
            return f"({_name(plan.source)}){hop}{_node(plan.target, plan.labels)}{_notes(plan.is_bound, plan.unlike)}"
        case ExpandBound():
            hop = _hop(plan.relationship, plan.types, plan.direction, "")
            return f"({_name(plan.source)}){hop}({_name(plan.target)})"
        case ExpandVariable() | Reach():
            target = _node(plan.target, plan.labels)
            return f"({_name(plan.source)}){_trail(plan.trails)}{target}{_notes(plan.is_bound, plan.unlike)}"
        case ShortestPaths():
            which = "every" if plan.every else "one"
            return f"{which} ({_name(plan.source)}){_trail(plan.trails)}({_name(plan.target)})"
        case Degree():
            hop = _hop(None, plan.types, plan.direction, "")
            name, where = ("", "") if plan.where is None else (plan.where[0], f" WHERE {_shown(plan.where[1])}")
            target = _node(name, plan.labels)
            return f"{_name(plan.column)} = hops ({_name(plan.source)}){hop}{target}{_notes(False, plan.unlike)}{where}"
        case Tally():
            hop = _hop(None, plan.types, plan.direction, "")
            weight = "" if plan.weight is None else f" by {_shown(plan.weight)}"
            ends = f"({_name(plan.source)}){hop}{_node(plan.target, plan.labels)}"
            return f"{_name(plan.column)} = ways {ends}{weight}"
        case BuildPath(_, path, first, steps):
            return f"{_name(path)} = {_names((first, *(name for name, _ in steps)))}"


def _notes(is_bound: bool, unlike: tuple[str, ...]) -> str:
    return (" into" if is_bound else "") + (f" unlike {_names(unlike)}" if unlike else "")


def _hop(name: str | None, types: tuple[str, ...], direction: Direction, length: str) -> str:
    inside = ("" if name is None else _name(name)) + (":" + "|".join(types) if types else "") + length
    left, right = ("<-" if direction == "in" else "-"), ("->" if direction == "out" else "-")
    return f"{left}[{inside}]{right}" if inside else left + right


def _trail(trails: Trails) -> str:
    most = "" if trails.most is None else trails.most
    each = "" if trails.each is None else f" WHERE {_shown(trails.each)}"
    return _hop(trails.relationships, trails.types, trails.direction, f"*{trails.least}..{most}{each}")


def _node(name: str, labels: LabelExpression | None) -> str:
    if labels is None:
        return f"({_name(name)})"
    shown = _shown(HasLabels(Variable("x"), labels)).removeprefix("(").removesuffix(")").removeprefix("x:")
    return f"({_name(name)}:{shown})"


def _items(items: Items) -> str:
    return ", ".join(
        _name(name) if expression == Variable(name) else f"{_shown(expression)} AS {_name(name)}"
        for name, expression in items
    )


def _keys(keys: Keys) -> str:
    return ", ".join(_shown(expression) + (" DESC" if descending else "") for expression, descending in keys)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(_name, names))


def _name(name: str) -> str:
    return name.strip()


def _shown(expression: Expression) -> str:
    return _HIDDEN.sub(r"\1", print_expression(expression))
