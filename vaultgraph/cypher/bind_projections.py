"""Binding of WITH and RETURN: the star, column names, grouping, and what ORDER BY, SKIP, LIMIT and WHERE may use.

Grouping is by the items without an aggregate. What an item with aggregates uses besides them must be such an item (a
variable or a property) or constant. After grouping or DISTINCT only the columns are left, so parts of ORDER BY and
WHERE that are written like an item are replaced by its column; else both may use the columns and what was before.
"""

from collections.abc import Sequence

from vaultgraph.cypher.advice import listed, nearest
from vaultgraph.cypher.bind_expressions import bind_condition, bind_expression
from vaultgraph.cypher.functions.aggregates import is_aggregate
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import (
    Expression,
    ListComprehension,
    Literal,
    NodePattern,
    OrderItem,
    Parameter,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Projection,
    ProjectionItem,
    Property,
    Quantifier,
    Reduce,
    RelationshipPattern,
    Subquery,
    Syntax,
    Variable,
)
from vaultgraph.cypher.trees import any_tree, children, rewrite, variables_of

_Local = ListComprehension | Quantifier | Reduce | PatternComprehension | PatternPredicate | PatternCount


def bind_projection(
    projection: Projection, where: Expression | None, scope: Scope, desk: Desk, *, last: bool
) -> tuple[Projection, Expression | None, Scope]:
    """The completed projection, its bound WHERE, and the scope of the next clause; ``last`` is RETURN.

    Raises:
        BindError: names, columns or aggregates are wrong.
    """
    items = _expanded(projection, scope, desk, last=last)
    if not last:
        _check_aliases(items, desk)
    _check_unique(items, desk)
    bound = [bind_expression(item.expression, scope, desk) for item in items]
    _check_outer(items, scope, desk)
    after = scope.only({item.name: kind for item, (_, kind) in zip(items, bound, strict=True)})
    grouping = any(any_tree(item.expression, is_aggregate) for item in items)
    if grouping:
        keys = [item.expression for item in items if not any_tree(item.expression, is_aggregate)]
        keys += [Variable(name) for name in scope.outer]
        for item in items:
            if any_tree(item.expression, is_aggregate):
                _check_grouped(item.expression, keys, frozenset(), scope, desk)
    only_columns = grouping or projection.distinct
    inner = after if only_columns else scope.plus(after.kinds)
    order = tuple(
        _order(item, items, inner.without_aggregates("in ORDER BY"), desk, only_columns=only_columns)
        for item in projection.order
    )
    if where is not None:
        tree = over_columns(where, items) if only_columns else where
        where = bind_condition(tree, inner.without_aggregates("in WHERE"), desk)
    done = Projection(
        tuple(
            ProjectionItem(expression, item.name, item.aliased, at=item.at)
            for item, (expression, _) in zip(items, bound, strict=True)
        ),
        False,
        projection.distinct,
        order,
        _row_count(projection.skip, "SKIP", desk),
        _row_count(projection.limit, "LIMIT", desk),
        at=projection.at,
    )
    return done, where, after


def over_columns(tree: Expression, items: Sequence[ProjectionItem]) -> Expression:
    """The expression with its parts that are written like an item replaced by the item's column.

    A compound item counts only as the whole expression, or where it holds an aggregate.
    """
    names = {item.name for item in items}
    used = {name for item in items for name in variables_of(item.expression)}

    def column(part: Syntax) -> Syntax | None:
        if isinstance(part, Variable) and part.name in names:
            return part
        if isinstance(part, _Local) and part is not tree and _local_names(part) & used:
            return part
        for item in items:
            if (
                part == item.expression
                and not isinstance(part, Literal | Parameter)
                and (part is tree or _is_plain(item.expression) or any_tree(item.expression, is_aggregate))
            ):
                return Variable(item.name, at=part.at)
        return None

    return rewrite(tree, column)


def _expanded(projection: Projection, scope: Scope, desk: Desk, *, last: bool) -> tuple[ProjectionItem, ...]:
    """The items with the star spelled out, in the order the variables came."""
    if not projection.star:
        return projection.items
    if last and not scope.starred:
        raise desk.error("There are no variables for *: name a node or relationship in MATCH.", projection.at)
    start = projection.at[0]
    at = (start, start + 1)
    stars = tuple(ProjectionItem(Variable(name, at=at), name, False, at=at) for name in scope.starred)
    return stars + projection.items


def _check_aliases(items: Sequence[ProjectionItem], desk: Desk) -> None:
    for item in items:
        if not item.aliased and not isinstance(item.expression, Variable):
            raise desk.error(f"WITH needs a name for this: {item.name} AS name.", item.at)


def _check_unique(items: Sequence[ProjectionItem], desk: Desk) -> None:
    seen: set[str] = set()
    for item in items:
        if item.name in seen:
            raise desk.error(f"Two columns are named '{item.name}': give one another name with AS.", item.at)
        seen.add(item.name)


def _check_outer(items: Sequence[ProjectionItem], scope: Scope, desk: Desk) -> None:
    """In a subquery the names from outside mean what they mean there."""
    for item in items:
        if item.name in scope.outer and item.expression != Variable(item.name):
            raise desk.error(
                f"The variable '{item.name}' comes from outside of this subquery: choose another name.", item.at
            )


def _check_grouped(tree: Syntax, keys: Sequence[Expression], local: frozenset[str], scope: Scope, desk: Desk) -> None:
    """Outside its aggregates an item may use constants and the variables and properties that are items themselves."""
    if is_aggregate(tree):
        return
    if isinstance(tree, Variable | Property) and _is_plain(tree):
        if not _is_grouped(tree, keys, local):
            raise _ambiguous(desk.text[tree.at[0] : tree.at[1]], tree, desk)
        return
    if isinstance(tree, NodePattern | RelationshipPattern) and tree.variable is not None:
        if tree.variable in scope.kinds and not _is_grouped(Variable(tree.variable), keys, local):
            raise _ambiguous(tree.variable, tree, desk)
    elif isinstance(tree, PatternPredicate | PatternCount | PatternComprehension):
        local |= _pattern_names(tree) - scope.kinds.keys()
    elif isinstance(tree, ListComprehension | Quantifier | Reduce):
        local |= _local_names(tree)
    elif isinstance(tree, Subquery):
        for name in sorted(variables_of(tree) & scope.kinds.keys()):
            if not _is_grouped(Variable(name), keys, local):
                raise _ambiguous(name, tree, desk)
        return
    for part in children(tree):
        _check_grouped(part, keys, local, scope, desk)


def _is_grouped(tree: Expression, keys: Sequence[Expression], local: frozenset[str]) -> bool:
    """Whether a variable or property is a key, a property of a key, or local to the item."""
    while tree not in keys:
        if isinstance(tree, Variable):
            return tree.name in local
        if not isinstance(tree, Property):
            return False
        tree = tree.subject
    return True


def _ambiguous(shown: str, tree: Syntax, desk: Desk) -> Exception:
    return desk.error(
        f"'{shown}' is used beside an aggregate, but the rows are not grouped by it: make it an item of its own, or "
        "compute this in a WITH before.",
        tree.at,
    )


def _order(
    item: OrderItem, items: Sequence[ProjectionItem], scope: Scope, desk: Desk, *, only_columns: bool
) -> OrderItem:
    tree = item.expression
    if only_columns:
        tree = over_columns(tree, items)
        _check_columns_only(tree, scope, desk)
    elif any_tree(tree, is_aggregate):
        raise desk.error("ORDER BY cannot aggregate here: make the aggregate a column and order by its name.", tree.at)
    return OrderItem(bind_expression(tree, scope, desk)[0], item.descending, at=item.at)


def _check_columns_only(tree: Expression, scope: Scope, desk: Desk) -> None:
    """After grouping and DISTINCT the other variables are gone; say so rather than that they are undefined."""
    gone = next((part for part in _outer_variables(tree, frozenset()) if part.name not in scope.kinds), None)
    if gone is not None:
        columns = list(scope.kinds)
        raise desk.error(
            f"'{gone.name}' is gone here: after an aggregate or DISTINCT, ORDER BY can use only the columns "
            f"({listed(columns)}).",
            gone.at,
            nearest(gone.name, columns),
        )
    if any_tree(tree, is_aggregate):
        raise desk.error("This aggregate is not a column: make it one and order by its name.", tree.at)


def _outer_variables(tree: Syntax, local: frozenset[str]) -> list[Variable]:
    """The variables of an expression that are not local to a part of it, and not in patterns."""
    if isinstance(tree, Variable):
        return [] if tree.name in local else [tree]
    if isinstance(tree, Subquery):
        return []
    if isinstance(tree, _Local):
        local |= _local_names(tree)
    return [variable for part in children(tree) for variable in _outer_variables(part, local)]


def _local_names(tree: _Local) -> frozenset[str]:
    match tree:
        case ListComprehension() | Quantifier():
            return frozenset({tree.variable})
        case Reduce():
            return frozenset({tree.variable, tree.accumulator})
        case _:
            return _pattern_names(tree)


def _pattern_names(tree: PatternPredicate | PatternCount | PatternComprehension) -> frozenset[str]:
    """All variables named in the patterns, known ones included."""
    patterns = (tree.pattern,) if isinstance(tree, PatternComprehension) else tree.patterns
    names: set[str | None] = set()
    for pattern in patterns:
        names.add(pattern.variable)
        names.update(part.variable for part in (*pattern.nodes, *pattern.relationships))
    return frozenset(name for name in names if name is not None)


def _is_plain(tree: Expression) -> bool:
    """A variable or a property of one, at any depth."""
    while isinstance(tree, Property):
        tree = tree.subject
    return isinstance(tree, Variable)


def _row_count(tree: Expression | None, keyword: str, desk: Desk) -> Expression | None:
    """SKIP and LIMIT: a whole number from zero on, that does not depend on rows."""
    if tree is None:
        return None
    if variables_of(tree):
        raise desk.error(f"{keyword} takes a number or a parameter: it cannot depend on the rows.", tree.at)
    bound, kind = bind_expression(tree, Scope(no_aggregates=f"in {keyword}"), desk)
    value: object = None
    if isinstance(bound, Parameter):
        value = desk.parameters[bound.name]
    elif isinstance(bound, Literal):
        value = bound.value
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        raise desk.error(f"{keyword} cannot be negative, and this is {value}.", tree.at)
    whole = isinstance(value, int) and not isinstance(value, bool)
    unknown = not isinstance(bound, Parameter | Literal) and kind.name in ("any", "integer")
    if not whole and not unknown:
        raise desk.error(f"{keyword} takes a whole number{_given(value)}.", tree.at)
    return bound


def _given(value: object) -> str:
    return "" if value is None else f", and this is {value!r}"
