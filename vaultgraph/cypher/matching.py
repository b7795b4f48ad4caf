"""Patterns to plans: where a pattern starts, in which order it grows, which relationships must differ.

Called by the planner for MATCH and by execute/pattern_runner for patterns inside expressions. Predicates are put on top
of the grown pattern, one Filter each: rules/push_filters moves them down.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.growth import Costs, Hop, name_of
from vaultgraph.cypher.operators import (
    BuildPath,
    Expand,
    ExpandBound,
    ExpandVariable,
    Filter,
    Join,
    Plan,
    ScanNodes,
    ShortestPaths,
    Start,
    Trails,
)
from vaultgraph.cypher.plans import columns_of
from vaultgraph.cypher.syntax import (
    Binary,
    Comparison,
    Expression,
    HasLabels,
    IsNull,
    LabelAnd,
    LabelExpression,
    MapLiteral,
    Parameter,
    PathPattern,
    Property,
    Variable,
)
from vaultgraph.cypher.trees import conjuncts, few, substitute


@dataclass(slots=True)
class _Growth:
    """The state of one growing pattern."""

    plan: Plan
    costs: Costs
    labels: Mapping[str, LabelExpression | None]
    bound: frozenset[str]
    solved: set[str]
    pending: list[Hop]
    made: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[tuple[str, tuple[str, ...]]])


def plan_patterns(
    patterns: Iterable[PathPattern],
    where: Expression | None,
    plan: Plan,
    statistics: Statistics,
    parameters: Mapping[str, object],
) -> Plan:
    """The plan that extends each row of ``plan`` by the matches of the patterns; columns of ``plan`` are bound."""
    patterns = tuple(patterns)
    bound = columns_of(plan)
    labels: dict[str, LabelExpression | None] = {}
    predicates: list[Expression] = []
    hops: list[Hop] = []
    for path in patterns:
        for node in path.nodes:
            name = name_of(node)
            labels[name] = both_labels(labels.get(name), node.labels)
            predicates += property_predicates(name, node.properties, parameters)
            predicates += conjuncts(node.where)
        if path.shortest is None:
            hops += _hops_of(path)
    for hop in hops:
        if hop.pattern.length is None:
            predicates += property_predicates(hop.name, hop.pattern.properties, parameters)
            predicates += conjuncts(hop.pattern.where)
    predicates += conjuncts(where)
    costs = _costs(statistics, labels, predicates)
    growth = _Growth(plan, costs, labels, bound, {name for name in labels if name in bound}, hops)
    first = tuple(_needs_node(name, labels, hops) for name in labels if name in bound)
    _grow(growth, parameters)
    _finish_paths(growth, patterns, parameters)
    for predicate in few([*(part for parts in first for part in parts), *predicates]):
        growth.plan = Filter(growth.plan, predicate)
    return growth.plan


def _costs(
    statistics: Statistics, labels: Mapping[str, LabelExpression | None], predicates: Iterable[Expression]
) -> Costs:
    """What choices are made by: a label in WHERE counts as one in the pattern."""
    known = dict(labels)
    others: list[Expression] = []
    for predicate in predicates:
        match predicate:
            case HasLabels(Variable(name), expression) if name in known:
                known[name] = both_labels(known[name], expression)
            case _:
                others.append(predicate)
    return Costs(statistics, known, others)


def both_labels(one: LabelExpression | None, other: LabelExpression | None) -> LabelExpression | None:
    """The expression that holds where both do."""
    if one is None or other is None or one == other:
        return other if one is None else one
    left = one.parts if isinstance(one, LabelAnd) else (one,)
    right = other.parts if isinstance(other, LabelAnd) else (other,)
    return LabelAnd((*left, *right))


def property_predicates(
    variable: str, properties: MapLiteral | Parameter | None, parameters: Mapping[str, object]
) -> list[Expression]:
    """The equalities that an inline property map stands for."""
    subject = Variable(variable)
    match properties:
        case None:
            return []
        case MapLiteral(entries):
            return [Comparison(Property(subject, key), (("=", value),), at=value.at) for key, value in entries]
        case Parameter(name):
            given = parameters.get(name)
            keys = [str(key) for key in given] if isinstance(given, Mapping) else []  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            return [Comparison(Property(subject, key), (("=", Property(properties, key)),)) for key in keys]


def _hops_of(path: PathPattern) -> list[Hop]:
    return [
        Hop(name_of(left), name_of(right), pattern)
        for left, pattern, right in zip(path.nodes, path.relationships, path.nodes[1:], strict=False)
    ]


def _needs_node(name: str, labels: Mapping[str, LabelExpression | None], hops: Iterable[Hop]) -> list[Expression]:
    """What a bound node must satisfy that no hop checks."""
    found: list[Expression] = []
    expression = labels[name]
    if expression is not None:
        found.append(HasLabels(Variable(name), expression))
    elif not any(name in (hop.left, hop.right) for hop in hops):
        found.append(IsNull(Variable(name), negated=True))
    return found


def _grow(growth: _Growth, parameters: Mapping[str, object]) -> None:
    """Solve all nodes and hops, cheapest first."""
    while growth.pending or not growth.solved.issuperset(growth.labels):
        given = next((hop for hop in growth.pending if _is_given(hop, growth)), None)
        if given is not None:
            _expand_bound(growth, given)
            continue
        choice = growth.costs.next_hop(growth.solved, growth.pending)
        if choice is None:
            start = growth.costs.start([name for name in growth.labels if name not in growth.solved], growth.pending)
            leaf = ScanNodes(start, growth.labels[start])
            growth.plan = leaf if isinstance(growth.plan, Start) else Join(growth.plan, leaf)
            growth.solved.add(start)
            continue
        hop, source = choice
        growth.pending.remove(hop)
        _expand(growth, hop, source, parameters)
        growth.solved.add(hop.other(source))


def _is_given(hop: Hop, growth: _Growth) -> bool:
    return hop.pattern.length is None and hop.name in growth.bound


def _expand_bound(growth: _Growth, hop: Hop) -> None:
    growth.pending.remove(hop)
    growth.plan = ExpandBound(
        growth.plan,
        hop.left,
        hop.name,
        hop.right,
        hop.pattern.types,
        hop.pattern.direction,
        hop.left in growth.solved,
        hop.right in growth.solved or hop.right == hop.left,
        hop.pattern.at,
    )
    for name in dict.fromkeys((hop.left, hop.right)):
        expression = growth.labels[name]
        if name not in growth.solved and expression is not None:
            growth.plan = Filter(growth.plan, HasLabels(Variable(name), expression))
        growth.solved.add(name)
    growth.made.append((hop.name, hop.pattern.types))


def _expand(growth: _Growth, hop: Hop, source: str, parameters: Mapping[str, object]) -> None:
    pattern, target = hop.pattern, hop.other(source)
    unlike = tuple(name for name, types in growth.made if _may_meet(types, pattern.types))
    is_bound = target in growth.solved
    labels = None if is_bound else growth.labels[target]
    direction = hop.direction_from(source)
    if pattern.length is None:
        growth.plan = Expand(
            growth.plan, source, hop.name, target, pattern.types, direction, labels, is_bound, unlike, pattern.at
        )
        growth.made.append((hop.name, pattern.types))
        return
    trails = _trails(hop, source, parameters)
    given = hop.name in growth.bound
    if given:
        trails = replace(trails, relationships=f" same {hop.name}")
    growth.plan = ExpandVariable(growth.plan, source, target, trails, labels, is_bound, unlike)
    if given:
        same = Comparison(Variable(f" same {hop.name}"), (("=", Variable(hop.name)),))
        growth.plan = Filter(growth.plan, same)
    growth.made.append((trail_name(hop.name), pattern.types))


def trail_name(relationship: str) -> str:
    """The hidden column that holds the relationship ids of a variable-length pattern."""
    return f" trail {relationship}"


def _trails(hop: Hop, source: str, parameters: Mapping[str, object]) -> Trails:
    pattern, one = hop.pattern, f" hop {hop.name}"
    each: Expression | None = None
    parts = property_predicates(one, pattern.properties, parameters)
    parts += [substitute(part, {hop.name: Variable(one)}) for part in conjuncts(pattern.where)]
    for part in parts:
        each = part if each is None else Binary("AND", each, part)
    least, most = pattern.length or (1, 1)
    shown = None if hop.name.startswith(" ") else hop.name
    direction, is_reversed = hop.direction_from(source), source != hop.left
    return Trails(
        pattern.types, direction, least, most, one, each, trail_name(hop.name), shown, is_reversed, pattern.at
    )


def _may_meet(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two relationship patterns can take the same relationship."""
    return not one or not other or not set(one).isdisjoint(other)


def _finish_paths(growth: _Growth, patterns: Iterable[PathPattern], parameters: Mapping[str, object]) -> None:
    """Shortest paths, then the named paths."""
    for path in patterns:
        if path.shortest is not None:
            hop = _hops_of(path)[0]
            trails = _trails(hop, hop.left, parameters)
            growth.plan = ShortestPaths(growth.plan, hop.left, hop.right, trails, path.shortest == "all")
    for path in patterns:
        if path.variable is not None:
            steps = tuple(
                (name_of(step), False)
                if step.length is None and path.shortest is None
                else (trail_name(name_of(step)), True)
                for step in path.relationships
            )
            growth.plan = BuildPath(growth.plan, path.variable, name_of(path.nodes[0]), steps)
