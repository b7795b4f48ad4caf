"""Binding of expressions and the patterns in them: every name is known, every hidden variable is named, kinds fit.

`bind_expression` gives the completed expression and what is known of its value. The rules of clauses (grouping, order,
scopes) are in cypher/bind and cypher/bind_projections. Binding an expression once is one walk over it.
"""

from dataclasses import replace
from typing import Final, assert_never

from vaultgraph.cypher import kinds
from vaultgraph.cypher.bind_calls import bind_call, check_kind
from vaultgraph.cypher.bind_patterns import bind_paths
from vaultgraph.cypher.bind_subqueries import bind_subquery
from vaultgraph.cypher.kinds import ANY, BOOLEAN, FLOAT, INTEGER, Kind, KindName
from vaultgraph.cypher.name_warnings import warn_label, warn_property, warn_type
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import (
    Binary,
    Case,
    Comparison,
    CountStar,
    Expression,
    FunctionCall,
    HasLabels,
    Index,
    IsNull,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Parameter,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Property,
    Quantifier,
    Reduce,
    Slice,
    Subquery,
    Unary,
    Variable,
)

Typed = tuple[Expression, Kind]

_NOT_BOOLEAN: Final[tuple[KindName, ...]] = (
    "integer", "float", "string", "list", "map", "node", "relationship", "path",
)  # fmt: skip
_NOT_NUMBER: Final[tuple[KindName, ...]] = ("boolean", "string", "list", "map", "node", "relationship", "path")
_NOT_LIST: Final[tuple[KindName, ...]] = (
    "boolean", "integer", "float", "string", "map", "node", "relationship", "path",
)  # fmt: skip
_NO_PROPERTIES: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "list", "path")
_NO_ITEMS: Final[tuple[KindName, ...]] = ("boolean", "integer", "float", "string", "path")


def bind_expression(tree: Expression, scope: Scope, desk: Desk) -> Typed:
    """The expression with all names checked and hidden variables named, and the kind of its value.

    Raises:
        BindError: a name is unknown, or used for what it is not.
    """
    match tree:
        case Literal():
            return tree, kinds.kind_of_literal(tree)
        case Variable(name):
            kind = scope.kinds.get(name)
            if kind is None:
                raise desk.undefined(name, scope, tree.at)
            return tree, kind
        case Parameter(name):
            if name not in desk.parameters:
                raise desk.missing_parameter(name, tree.at)
            return tree, ANY
        case Property():
            return _property(tree, scope, desk)
        case Index() | Slice():
            return _item(tree, scope, desk)
        case Unary() | Binary() | Comparison() | IsNull():
            return _operator(tree, scope, desk)
        case HasLabels():
            return _has_labels(tree, scope, desk)
        case FunctionCall() | CountStar():
            return bind_call(tree, scope, desk, bind_expression)
        case Case():
            return _case(tree, scope, desk)
        case ListLiteral() | MapLiteral() | MapProjection():
            return _collection(tree, scope, desk)
        case ListComprehension() | Quantifier() | Reduce():
            return _local(tree, scope, desk)
        case PatternPredicate() | PatternCount() | PatternComprehension():
            return _with_pattern(tree, scope, desk)
        case Subquery():
            return bind_subquery(tree, scope, desk)
        case _:
            assert_never(tree)


def bind_condition(tree: Expression, scope: Scope, desk: Desk) -> Expression:
    """An expression whose value must be true, false or null."""
    bound, kind = bind_expression(tree, scope, desk)
    check_kind(tree, kind, _NOT_BOOLEAN, "A condition is true or false", desk)
    return bound


def _property(tree: Property, scope: Scope, desk: Desk) -> Typed:
    subject, kind = bind_expression(tree.subject, scope, desk)
    if kind.name == "list" and item_has_properties(kind):
        shown = desk.text[tree.subject.at[0] : tree.subject.at[1]]
        raise desk.error(
            f"A list has no properties: for those of its items write [x IN {shown} | x.{tree.key}].", tree.at
        )
    check_kind(tree.subject, kind, _NO_PROPERTIES, "Only nodes, relationships, maps and dates have properties", desk)
    warn_property(desk, tree.key, kind)
    return (tree if subject is tree.subject else replace(tree, subject=subject)), ANY


def item_has_properties(kind: Kind) -> bool:
    """Whether the items of a list are nodes, relationships or maps."""
    return kinds.item_of(kind).name in ("node", "relationship", "map")


def _item(tree: Index | Slice, scope: Scope, desk: Desk) -> Typed:
    subject, kind = bind_expression(tree.subject, scope, desk)
    if isinstance(tree, Index):
        check_kind(tree.subject, kind, _NO_ITEMS, "Only lists, maps, nodes and relationships take [index]", desk)
        index, _ = bind_expression(tree.index, scope, desk)
        return replace(tree, subject=subject, index=index), kinds.item_of(kind)
    check_kind(tree.subject, kind, (*_NO_ITEMS, "map", "node", "relationship"), "Only lists take [from..to]", desk)
    start = None if tree.start is None else bind_expression(tree.start, scope, desk)[0]
    stop = None if tree.stop is None else bind_expression(tree.stop, scope, desk)[0]
    return replace(tree, subject=subject, start=start, stop=stop), kind


def _operator(tree: Unary | Binary | Comparison | IsNull, scope: Scope, desk: Desk) -> Typed:
    match tree:
        case IsNull(operand, _):
            inner, _ = bind_expression(operand, scope, desk)
            return (tree if inner is operand else replace(tree, operand=inner)), BOOLEAN
        case Comparison(first, rest):
            left, _ = bind_expression(first, scope, desk)
            right = tuple((sign, bind_expression(side, scope, desk)[0]) for sign, side in rest)
            same = left is first and all(new[1] is old[1] for new, old in zip(right, rest, strict=True))
            return (tree if same else replace(tree, first=left, rest=right)), BOOLEAN
        case Unary("NOT", operand):
            inner, kind = bind_expression(operand, scope, desk)
            check_kind(operand, kind, _NOT_BOOLEAN, "NOT takes true or false", desk)
            return (tree if inner is operand else replace(tree, operand=inner)), BOOLEAN
        case Unary(operator, operand):
            inner, kind = bind_expression(operand, scope, desk)
            check_kind(operand, kind, _NOT_NUMBER, f"{operator} takes a number", desk)
            return (tree if inner is operand else replace(tree, operand=inner)), kind
        case Binary():
            return _binary(tree, scope, desk)


def _binary(tree: Binary, scope: Scope, desk: Desk) -> Typed:
    left, left_kind = bind_expression(tree.left, scope, desk)
    right, right_kind = bind_expression(tree.right, scope, desk)
    kind = BOOLEAN
    match tree.operator:
        case "AND" | "OR" | "XOR":
            for side, side_kind in ((tree.left, left_kind), (tree.right, right_kind)):
                check_kind(side, side_kind, _NOT_BOOLEAN, f"{tree.operator} takes true or false", desk)
        case "-" | "*" | "/" | "%" | "^":
            for side, side_kind in ((tree.left, left_kind), (tree.right, right_kind)):
                check_kind(side, side_kind, _NOT_NUMBER, f"{tree.operator} takes numbers", desk)
            kind = _number(tree.operator, left_kind, right_kind)
        case "+":
            kind = _number("+", left_kind, right_kind)
        case "||":
            kind = ANY
        case "IN":
            check_kind(tree.right, right_kind, _NOT_LIST, "IN takes a list on its right", desk)
        case "=~" | "STARTS WITH" | "ENDS WITH" | "CONTAINS":
            pass
    if left is tree.left and right is tree.right:
        return tree, kind
    return replace(tree, left=left, right=right), kind


def _number(operator: str, left: Kind, right: Kind) -> Kind:
    """The kind of an arithmetic result, where both sides surely are numbers."""
    if left.name == "integer" and right.name == "integer":
        return FLOAT if operator == "^" else INTEGER
    both = {left.name, right.name}
    return FLOAT if both <= {"integer", "float"} else ANY


def _has_labels(tree: HasLabels, scope: Scope, desk: Desk) -> Typed:
    subject, kind = bind_expression(tree.subject, scope, desk)
    check_kind(tree.subject, kind, (*_NO_PROPERTIES, "map"), "Only nodes have labels and relationships a type", desk)
    for label in kinds.label_names(tree.labels, negated=True):
        if kind.name == "node":
            warn_label(desk, label.name)
        elif kind.name == "relationship":
            warn_type(desk, label.name)
    return (tree if subject is tree.subject else replace(tree, subject=subject)), BOOLEAN


def _case(tree: Case, scope: Scope, desk: Desk) -> Typed:
    subject = None if tree.subject is None else bind_expression(tree.subject, scope, desk)[0]
    test = bind_condition if tree.subject is None else _bound_only
    branches: list[tuple[Expression, Expression]] = []
    results: list[Kind] = []
    for when, then in tree.branches:
        value, kind = bind_expression(then, scope, desk)
        branches.append((test(when, scope, desk), value))
        results.append(kind)
    default = None
    if tree.default is not None:
        default, kind = bind_expression(tree.default, scope, desk)
        results.append(kind)
    return Case(subject, tuple(branches), default, at=tree.at), kinds.common(results)


def _bound_only(tree: Expression, scope: Scope, desk: Desk) -> Expression:
    return bind_expression(tree, scope, desk)[0]


def _collection(tree: ListLiteral | MapLiteral | MapProjection, scope: Scope, desk: Desk) -> Typed:
    match tree:
        case ListLiteral(items):
            bound = [bind_expression(item, scope, desk) for item in items]
            return ListLiteral(tuple(item for item, _ in bound), at=tree.at), kinds.list_of(
                kinds.common(kind for _, kind in bound)
            )
        case MapLiteral(entries):
            return replace(tree, entries=_entries(entries, scope, desk)), kinds.MAP
        case MapProjection(subject, entries, _):
            inner, kind = bind_expression(subject, scope, desk)
            check_kind(subject, kind, _NO_PROPERTIES, "Only nodes, relationships and maps can be projected", desk)
            return replace(tree, subject=inner, entries=_entries(entries, scope, desk)), kinds.MAP


def _entries(
    entries: tuple[tuple[str, Expression], ...], scope: Scope, desk: Desk
) -> tuple[tuple[str, Expression], ...]:
    return tuple((key, bind_expression(value, scope, desk)[0]) for key, value in entries)


def _local(tree: ListComprehension | Quantifier | Reduce, scope: Scope, desk: Desk) -> Typed:
    source, kind = bind_expression(tree.source, scope, desk)
    check_kind(tree.source, kind, _NOT_LIST, f"{tree.variable} IN … takes a list", desk)
    item = kinds.item_of(kind)
    inner = scope.plus({tree.variable: item}).without_aggregates("for each item of a list")
    if isinstance(tree, Reduce):
        start, _ = bind_expression(tree.start, scope, desk)
        step, _ = bind_expression(tree.step, inner.plus({tree.accumulator: ANY}), desk)
        return Reduce(tree.accumulator, start, tree.variable, source, step, at=tree.at), ANY
    if isinstance(tree, Quantifier):
        where = bind_condition(tree.where, inner, desk)
        return Quantifier(tree.kind, tree.variable, source, where, at=tree.at), BOOLEAN
    condition = None if tree.where is None else bind_condition(tree.where, inner, desk)
    projection = None
    if tree.projection is not None:
        projection, item = bind_expression(tree.projection, inner, desk)
    return ListComprehension(tree.variable, source, condition, projection, at=tree.at), kinds.list_of(item)


def _with_pattern(tree: PatternPredicate | PatternCount | PatternComprehension, scope: Scope, desk: Desk) -> Typed:
    scope = scope.without_aggregates("in a pattern")
    if isinstance(tree, PatternComprehension):
        (pattern,), inner = bind_paths((tree.pattern,), scope, desk, bind_expression)
        where = None if tree.where is None else bind_condition(tree.where, inner, desk)
        projection, item = bind_expression(tree.projection, inner, desk)
        return PatternComprehension(pattern, where, projection, at=tree.at), kinds.list_of(item)
    patterns, inner = bind_paths(
        tree.patterns, scope, desk, bind_expression, closed=isinstance(tree, PatternPredicate) and tree.bare
    )
    where = None if tree.where is None else bind_condition(tree.where, inner, desk)
    kind = BOOLEAN if isinstance(tree, PatternPredicate) else INTEGER
    return replace(tree, patterns=patterns, where=where), kind
