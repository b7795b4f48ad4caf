"""Binding of path patterns: every node and relationship gets a variable, and no variable is two things.

Used for MATCH and for the patterns in expressions. How an expression is bound is handed in.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vaultgraph.cypher import kinds
from vaultgraph.cypher.kinds import NODE, PATH, RELATIONSHIP, Kind
from vaultgraph.cypher.name_warnings import warn_label, warn_property, warn_type, warn_variable
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import (
    Binary,
    Expression,
    HasLabels,
    MapLiteral,
    NodePattern,
    Parameter,
    PathPattern,
    RelationshipPattern,
    Span,
    Variable,
)
from vaultgraph.cypher.trees import has_pattern
from vaultgraph.errors import UnsupportedError

Binder = Callable[[Expression, Scope, Desk], tuple[Expression, Kind]]
Properties = MapLiteral | Parameter | None

_MOST_NODES: Final = 100  # of one clause: planning looks at every pair


def bind_paths(
    patterns: tuple[PathPattern, ...], scope: Scope, desk: Desk, bind: Binder, *, closed: bool = False
) -> tuple[tuple[PathPattern, ...], Scope]:
    """The patterns with all variables named, and the scope with theirs added.

    ``closed`` patterns may only use variables that are known (a pattern as a condition). Properties and inline
    conditions may use every variable of the patterns.

    Raises:
        BindError: a variable is unknown, or is two things.
        UnsupportedError: the patterns are too long to plan.
    """
    if sum(len(pattern.nodes) for pattern in patterns) > _MOST_NODES:
        raise UnsupportedError(
            f"More than {_MOST_NODES} nodes in the patterns of one clause: split it into several MATCH, or write a "
            "repeated step as -[:TYPE*1..3]->.",
            desk.text,
            *patterns[0].at,
        )
    known, relationships = dict(scope.kinds), set[str]()
    named = tuple(_declare(pattern, known, relationships, scope, desk, closed=closed) for pattern in patterns)
    inner = Scope(known, scope.no_aggregates, scope.outer)
    inside = inner.without_aggregates("in a pattern")
    return tuple(_bind_details(pattern, inside, desk, bind) for pattern in named), inner


def _declare(
    pattern: PathPattern, known: dict[str, Kind], relationships: set[str], scope: Scope, desk: Desk, *, closed: bool
) -> PathPattern:
    """Name and check the variables of one path; ``known`` and ``relationships`` (of this clause) are extended."""
    if pattern.variable is not None:
        if pattern.variable in known:
            raise desk.error(
                f"The variable '{pattern.variable}' is already defined; a path needs a new name.", pattern.at
            )
        known[pattern.variable] = PATH
    nodes = [_declare_node(pattern.nodes[0], known, scope, desk, closed=closed)]
    steps: list[RelationshipPattern] = []
    for step, node in zip(pattern.relationships, pattern.nodes[1:], strict=True):
        steps.append(_declare_relationship(step, known, relationships, scope, desk, closed=closed))
        nodes.append(_declare_node(node, known, scope, desk, closed=closed))
    return replace(pattern, nodes=tuple(nodes), relationships=tuple(steps))


def _declare_node(node: NodePattern, known: dict[str, Kind], scope: Scope, desk: Desk, *, closed: bool) -> NodePattern:
    for label in kinds.label_names(node.labels, negated=True):
        warn_label(desk, label.name)
    labels = tuple(label.name for label in kinds.label_names(node.labels))
    name = node.variable
    if name is None:
        name = desk.fresh("n")
        known[name] = kinds.with_labels(NODE, labels)
        return replace(node, variable=name)
    _check_variable(name, "node", known, scope, desk, node.at, closed=closed)
    before = known.get(name)
    if node.labels is None and before is None:
        warn_variable(desk, name, is_node=True)
    known[name] = kinds.with_labels(before if before is not None and before.name == "node" else NODE, labels)
    return node


def _declare_relationship(
    step: RelationshipPattern,
    known: dict[str, Kind],
    relationships: set[str],
    scope: Scope,
    desk: Desk,
    *,
    closed: bool,
) -> RelationshipPattern:
    for type_name in (*step.types, *(one.name for one in kinds.label_names(step.type_expression, negated=True))):
        warn_type(desk, type_name)
    kind = kinds.with_labels(RELATIONSHIP, step.types)
    name = step.variable
    if name is None:
        name = desk.fresh("r")
        step = replace(step, variable=name)
    else:
        if name in relationships:
            raise desk.error(
                f"The relationship variable '{name}' is used twice in one MATCH; a path never takes a relationship "
                "twice, so give each its own name.",
                step.at,
            )
        _check_variable(
            name, "relationship" if step.length is None else "list", known, scope, desk, step.at, closed=closed
        )
        if not step.types and step.type_expression is None and name not in known:
            warn_variable(desk, name, is_node=False)
        relationships.add(name)
    known[name] = kind if step.length is None else kinds.list_of(kind)
    return step


def _check_variable(
    name: str, wanted: str, known: dict[str, Kind], scope: Scope, desk: Desk, at: Span, *, closed: bool
) -> None:
    """A known variable must be what the pattern takes it for; in a closed pattern it must be known."""
    before = known.get(name)
    if before is None:
        if closed:
            near = desk.undefined(name, scope, at)
            raise desk.error(
                f"The variable '{name}' is not defined, and a pattern used as a condition defines none: leave it out, "
                "or use EXISTS { … }.",
                at,
                near.suggestion,
            )
        return
    if before.name not in (wanted, "any", "null"):
        here = "a list of relationships" if wanted == "list" else f"a {wanted}"
        raise desk.error(f"The variable '{name}' is {kinds.shown(before)}, it cannot be {here} as well.", at)


def _bind_details(pattern: PathPattern, scope: Scope, desk: Desk, bind: Binder) -> PathPattern:
    nodes = tuple(_bind_node(node, scope, desk, bind) for node in pattern.nodes)
    steps = tuple(_bind_relationship(step, scope, desk, bind) for step in pattern.relationships)
    return replace(pattern, nodes=nodes, relationships=steps)


def _bind_node(node: NodePattern, scope: Scope, desk: Desk, bind: Binder) -> NodePattern:
    if node.properties is None and node.where is None:
        return node
    properties = _bind_properties(node.properties, scope.kinds[node.variable or ""], scope, desk, bind)
    where = None if node.where is None else bind(node.where, scope, desk)[0]
    return replace(node, properties=properties, where=where)


def _bind_relationship(step: RelationshipPattern, scope: Scope, desk: Desk, bind: Binder) -> RelationshipPattern:
    if step.type_expression is not None:
        step = _as_condition(step)
    if step.properties is None and step.where is None:
        return step
    kind = kinds.with_labels(RELATIONSHIP, step.types)
    # In the condition of a path of several hops the variable stands for each relationship.
    scope = scope.plus({step.variable or "": kind})
    properties = _bind_properties(step.properties, kind, scope, desk, bind)
    where = None if step.where is None else bind(step.where, scope, desk)[0]
    if step.length is not None and where is not None and has_pattern(where):
        raise UnsupportedError(
            "The condition of a relationship of several hops cannot hold patterns or subqueries: put it on one hop, or "
            "behind the pattern, all(r IN relationships(p) WHERE …).",
            desk.text,
            *where.at,
        )
    return replace(step, properties=properties, where=where)


def _as_condition(step: RelationshipPattern) -> RelationshipPattern:
    """A type expression as part of the inline condition, which the relationship meets or not."""
    labels = step.type_expression
    assert labels is not None
    test: Expression = HasLabels(Variable(step.variable or "", at=step.at), labels, at=step.at)
    where = test if step.where is None else Binary("AND", test, step.where, at=step.at)
    return replace(step, type_expression=None, where=where)


def _bind_properties(properties: Properties, kind: Kind, scope: Scope, desk: Desk, bind: Binder) -> Properties:
    if isinstance(properties, MapLiteral):
        for key, _ in properties.entries:
            warn_property(desk, key, kind)
        return replace(
            properties, entries=tuple((key, bind(value, scope, desk)[0]) for key, value in properties.entries)
        )
    return properties
