"""Binding of statements that write: every clause with its names checked and completed, and the names known after it.

The clauses that read go through cypher/bind; here are the rules of those that write. Afterwards every node and
relationship of a pattern that is created or merged has a variable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, assert_never

from vaultgraph.cypher import kinds
from vaultgraph.cypher.bind import bind_clause, new_desk
from vaultgraph.cypher.bind_expressions import bind_expression
from vaultgraph.cypher.kinds import NODE, PATH, RELATIONSHIP, Kind, KindName
from vaultgraph.cypher.procedures import Procedure
from vaultgraph.cypher.scopes import Desk, Names, Scope
from vaultgraph.cypher.syntax import (
    CallProcedure,
    Expression,
    LabelAnd,
    LabelName,
    MapLiteral,
    NodePattern,
    Parameter,
    PathPattern,
    RelationshipPattern,
    Return,
    Syntax,
)
from vaultgraph.cypher.write_syntax import (
    Alter,
    AnyClause,
    Change,
    Create,
    Delete,
    Foreach,
    Merge,
    Part,
    RemoveLabels,
    RemoveProperty,
    SetLabels,
    SetProperties,
    SetProperty,
    Statement,
    WriteClause,
)

_NO_ENTITY: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "list", "map", "path")
_NO_NODE: Final[tuple[KindName, ...]] = (*_NO_ENTITY, "relationship")
_NO_LIST: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "map", "node", "relationship", "path")
_NO_MAP: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "list", "path")
_NO_TARGET: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "list", "map")


@dataclass(frozen=True, slots=True)
class BoundPart:
    """Clauses with the variables known after each, and the names of the result columns (none without RETURN)."""

    clauses: tuple[tuple[AnyClause, tuple[str, ...]], ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """Parts that UNION joins, all with the same columns, and warnings about names that the graph lacks."""

    parts: tuple[BoundPart, ...]
    keeps_all: bool
    warnings: tuple[str, ...]


def bind_statement(
    statement: Statement,
    text: str,
    schema: Names | None,
    parameters: Mapping[str, object],
    procedures: Mapping[str, Procedure] | None = None,
) -> BoundStatement:
    """Check and complete a statement; without a ``schema`` there are no warnings.

    Raises:
        BindError: a name is unknown, defined twice or used for what it is not; the span is in ``text``.
    """
    desk = new_desk(text, schema, parameters, procedures)
    parts = tuple(_bind_part(part, desk) for part in statement.parts)
    for part, source in zip(parts, statement.parts, strict=True):
        if sorted(part.columns) != sorted(parts[0].columns):
            raise desk.error("All parts of a UNION need the same columns. Name them with AS.", source.clauses[-1].at)
    return BoundStatement(parts, statement.keeps_all, tuple(desk.warnings))


def _bind_part(part: Part, desk: Desk) -> BoundPart:
    scope = Scope()
    desk.gone.clear()
    bound: list[tuple[AnyClause, tuple[str, ...]]] = []
    for clause in part.clauses:
        done: AnyClause
        if isinstance(clause, WriteClause):
            done, scope = bind_write(clause, scope, desk)
        else:
            done, scope = bind_clause(clause, scope, desk, alone=len(part.clauses) == 1)
        bound.append((done, tuple(scope.kinds)))
    last = bound[-1][0]
    returns = isinstance(last, Return) or (isinstance(last, CallProcedure) and len(bound) == 1)
    return BoundPart(tuple(bound), scope.visible if returns else ())


def bind_write(clause: WriteClause, scope: Scope, desk: Desk) -> tuple[WriteClause, Scope]:
    """The clause, and the scope after it.

    Raises:
        BindError: see `bind_statement`.
    """
    match clause:
        case Create(patterns):
            known = dict(scope.kinds)
            done: list[PathPattern] = []
            for pattern in patterns:
                inside = Scope(dict(known)).without_aggregates("in CREATE")
                done.append(_details(_declare(pattern, known, desk, "CREATE"), inside, desk))
            return replace(clause, patterns=tuple(done)), Scope(known)
        case Merge(pattern):
            known = dict(scope.kinds)
            named = _declare(pattern, known, desk, "MERGE")
            after = Scope(known)
            inside = scope.without_aggregates("in MERGE")
            return replace(
                clause,
                pattern=_details(named, inside, desk),
                on_create=_changes(clause.on_create, after, desk),
                on_match=_changes(clause.on_match, after, desk),
            ), after
        case Alter(changes):
            return replace(clause, changes=_changes(changes, scope, desk)), scope
        case Delete(targets):
            inside = scope.without_aggregates("in DELETE")
            rule = "DELETE takes nodes, relationships and paths"
            return replace(clause, targets=tuple(_value(one, _NO_TARGET, rule, inside, desk) for one in targets)), scope
        case Foreach():
            return _bind_foreach(clause, scope, desk), scope
        case _:
            assert_never(clause)


def _bind_foreach(clause: Foreach, scope: Scope, desk: Desk) -> Foreach:
    source, kind = bind_expression(clause.source, scope.without_aggregates("in FOREACH"), desk)
    if kinds.is_refused(clause.source, kind, _NO_LIST):
        raise desk.error(f"FOREACH takes a list, and this is {kinds.shown(kind)}.", clause.source.at)
    if clause.variable in scope.kinds:
        raise _already(clause.variable, clause, desk, "FOREACH needs a new name")
    inner = scope.plus({clause.variable: kinds.item_of(kind)})
    clauses: list[WriteClause] = []
    for one in clause.clauses:
        bound, inner = bind_write(one, inner, desk)
        clauses.append(bound)
    return replace(clause, source=source, clauses=tuple(clauses))


def _changes(changes: tuple[Change, ...], scope: Scope, desk: Desk) -> tuple[Change, ...]:
    inside = scope.without_aggregates("in SET")
    return tuple(_change(change, inside, desk) for change in changes)


def _change(change: Change, scope: Scope, desk: Desk) -> Change:
    holders = "Only nodes and relationships have properties"
    match change:
        case SetProperty(subject, _, value):
            bound, _ = bind_expression(value, scope, desk)
            return replace(change, subject=_value(subject, _NO_ENTITY, holders, scope, desk), value=bound)
        case SetProperties(subject, value):
            bound = _value(value, _NO_MAP, "All properties come from a map, a node or a relationship", scope, desk)
            return replace(change, subject=_value(subject, _NO_ENTITY, holders, scope, desk), value=bound)
        case RemoveProperty(subject):
            return replace(change, subject=_value(subject, _NO_ENTITY, holders, scope, desk))
        case SetLabels(subject) | RemoveLabels(subject):
            return replace(change, subject=_value(subject, _NO_NODE, "Only nodes have labels", scope, desk))
        case _:
            assert_never(change)


def _value(tree: Expression, refused: tuple[KindName, ...], rule: str, scope: Scope, desk: Desk) -> Expression:
    bound, kind = bind_expression(tree, scope, desk)
    if kinds.is_refused(tree, kind, refused):
        raise desk.error(f"{rule}, and this is {kinds.shown(kind)}.", tree.at)
    return bound


def _declare(pattern: PathPattern, known: dict[str, Kind], desk: Desk, verb: str) -> PathPattern:
    """Name and check the variables of a path that is created or merged; ``known`` is extended."""
    if pattern.shortest is not None:
        raise desk.error(f"{verb} takes no shortest paths.", pattern.at)
    if pattern.variable is not None:
        if pattern.variable in known:
            raise _already(pattern.variable, pattern, desk, "a path needs a new name")
        known[pattern.variable] = PATH
    first = pattern.nodes[0]
    if not pattern.relationships and first.variable is not None and first.variable in known:
        raise _already(first.variable, first, desk, f"{verb} of a node alone needs a new name")
    nodes = [_declare_node(first, known, desk, verb)]
    steps: list[RelationshipPattern] = []
    for step, node in zip(pattern.relationships, pattern.nodes[1:], strict=True):
        steps.append(_declare_relationship(step, known, desk, verb))
        nodes.append(_declare_node(node, known, desk, verb))
    return replace(pattern, nodes=tuple(nodes), relationships=tuple(steps))


def _declare_node(node: NodePattern, known: dict[str, Kind], desk: Desk, verb: str) -> NodePattern:
    if node.where is not None:
        raise desk.error(f"{verb} takes no conditions: filter before it.", node.where.at)
    name = node.variable
    if name is not None and name in known:
        if known[name].name not in ("node", "any", "null"):
            raise desk.error(f"The variable '{name}' is {kinds.shown(known[name])}, it cannot be a node too.", node.at)
        if node.labels is not None or node.properties is not None:
            raise _already(name, node, desk, "here it takes no labels and no properties; SET gives them")
        return node
    labels = node.labels
    parts = labels.parts if isinstance(labels, LabelAnd) else () if labels is None else (labels,)
    names = tuple(part.name for part in parts if isinstance(part, LabelName))
    if len(names) != len(parts):
        raise desk.error(f"{verb} gives labels as :A:B.", node.at)
    name = desk.fresh("n") if name is None else name
    known[name] = kinds.with_labels(NODE, names)
    return replace(node, variable=name)


def _declare_relationship(
    step: RelationshipPattern, known: dict[str, Kind], desk: Desk, verb: str
) -> RelationshipPattern:
    if step.where is not None:
        raise desk.error(f"{verb} takes no conditions: filter before it.", step.where.at)
    if step.length is not None:
        raise desk.error(f"{verb} makes one relationship at a time: leave the length out.", step.at)
    if len(step.types) != 1:
        raise desk.error(f"{verb} needs one type for a relationship: -[:TYPE]->.", step.at)
    if step.direction == "both" and verb == "CREATE":
        raise desk.error("CREATE needs one direction for a relationship: -[:TYPE]-> or <-[:TYPE]-.", step.at)
    name = step.variable
    if name is not None and name in known:
        raise _already(name, step, desk, f"{verb} makes a new relationship, which needs a new name")
    name = desk.fresh("r") if name is None else name
    known[name] = kinds.with_labels(RELATIONSHIP, step.types)
    return replace(step, variable=name)


def _already(name: str, part: Syntax, desk: Desk, rule: str) -> Exception:
    return desk.error(f"The variable '{name}' is already defined: {rule}.", part.at)


def _details(pattern: PathPattern, scope: Scope, desk: Desk) -> PathPattern:
    """The pattern with its properties bound; they can use what is known before the path."""
    nodes = tuple(replace(one, properties=_properties(one.properties, scope, desk)) for one in pattern.nodes)
    steps = tuple(replace(one, properties=_properties(one.properties, scope, desk)) for one in pattern.relationships)
    return replace(pattern, nodes=nodes, relationships=steps)


def _properties(properties: MapLiteral | Parameter | None, scope: Scope, desk: Desk) -> MapLiteral | Parameter | None:
    if isinstance(properties, Parameter):
        bind_expression(properties, scope, desk)
        return properties
    if properties is None:
        return None
    entries = tuple((key, bind_expression(value, scope, desk)[0]) for key, value in properties.entries)
    return replace(properties, entries=entries)
