"""Binding of queries within braces: what they see of the query around them, and what that sees of them.

A value (EXISTS, COUNT, COLLECT) sees every variable, ``CALL (a, b) { … }`` those it names; both keep seeing them after
a WITH and may not use their names for anything else. ``CALL { … }`` sees what its first WITH names. How the clauses
are bound is in the desk, since they hold expressions and expressions hold queries.
"""

from dataclasses import replace

from vaultgraph.cypher import kinds
from vaultgraph.cypher.kinds import BOOLEAN, INTEGER, Kind
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import CallSubquery, Expression, Query, Return, SingleQuery, Subquery, Variable, With
from vaultgraph.cypher.trees import variables_of


def bind_subquery(tree: Subquery, scope: Scope, desk: Desk) -> tuple[Expression, Kind]:
    """A query as a value, and the kind of the value.

    Raises:
        BindError: a name in it is wrong, or what is collected is not one column.
    """
    inner = Scope(scope.kinds, outer=frozenset(scope.kinds))
    query, columns = _bound(tree.query, inner, desk)
    bound = replace(tree, query=query, columns=tuple(columns))
    match tree.kind:
        case "exists":
            return bound, BOOLEAN
        case "count":
            return bound, INTEGER
        case "collect":
            if len(columns) != 1:
                raise desk.error("COLLECT { … } collects one column: RETURN one value, or a map of several.", tree.at)
            return bound, kinds.list_of(next(iter(columns.values())))


def bind_call_subquery(call: CallSubquery, scope: Scope, desk: Desk) -> tuple[CallSubquery, Scope]:
    """``CALL { … }`` with its imports and columns spelled out, and the scope after it.

    Raises:
        BindError: a name is unknown, or a column has the name of a variable.
    """
    for part in call.query.parts:
        _check_named(part, desk)
    is_scoped = call.star or call.imports is not None
    if is_scoped:
        imports = scope.starred if call.star else tuple(dict.fromkeys(call.imports or ()))
        for name in imports:
            if name not in scope.kinds:
                raise desk.undefined(name, scope, call.at)
        inner = Scope({name: scope.kinds[name] for name in imports}, outer=frozenset(imports))
        query, columns = _bound(call.query, inner, desk, hidden=scope)
    else:
        imports = _imported(call.query, scope, desk)
        query, columns = _bound(call.query, Scope(), desk, hidden=scope, importing=scope)
    for name in columns:
        if name in scope.kinds:
            raise desk.error(
                f"The variable '{name}' is already defined outside of the subquery: RETURN {name} AS another name.",
                call.at,
            )
    bound = replace(
        call, query=query, imports=imports, star=False, columns=tuple(columns), is_scoped=is_scoped, at=call.at
    )
    return bound, scope.plus(columns)


def importing_scope(part: SingleQuery, scope: Scope, desk: Desk) -> Scope:
    """What the first clause of a part of ``CALL { … }`` sees: all of ``scope`` where it is an importing WITH, else
    nothing.

    Raises:
        BindError: it names variables of outside, but not only.
    """
    first = part.clauses[0]
    if not isinstance(first, With):
        return Scope()
    projection = first.projection
    if not projection.star and not any(variables_of(item.expression) & scope.kinds.keys() for item in projection.items):
        return Scope()
    is_simple = all(item.expression == Variable(item.name) for item in projection.items)
    is_whole = not projection.order and projection.skip is None and projection.limit is None and first.where is None
    if not is_simple or not is_whole or projection.distinct:
        raise desk.error(
            "The WITH that takes variables into a subquery names them and nothing else: CALL { WITH a, b … }, or write "
            "CALL (a, b) { … }.",
            first.at,
        )
    return Scope(scope.kinds)


def _imported(query: Query, scope: Scope, desk: Desk) -> tuple[str, ...]:
    """The variables that importing WITHs name."""
    names: dict[str, None] = {}
    for part in query.parts:
        first = part.clauses[0]
        if isinstance(first, With) and importing_scope(part, scope, desk).kinds:
            names.update(dict.fromkeys(scope.visible if first.projection.star else ()))
            names.update(dict.fromkeys(item.name for item in first.projection.items))
    return tuple(name for name in names if name in scope.kinds)


def _check_named(part: SingleQuery, desk: Desk) -> None:
    last = part.clauses[-1]
    for item in last.projection.items if isinstance(last, Return) else ():
        if not item.aliased and not isinstance(item.expression, Variable):
            raise desk.error(f"A column of a subquery needs a name: {item.name} AS name.", item.at)


def _bound(
    query: Query, inner: Scope, desk: Desk, *, hidden: Scope | None = None, importing: Scope | None = None
) -> tuple[Query, dict[str, Kind]]:
    """The bound query with its columns; names of ``hidden`` that it does not see are explained."""
    gone = dict(desk.gone)
    for name in hidden.visible if hidden is not None else ():
        if name not in inner.kinds:
            desk.gone[name] = f"The subquery does not see the variable '{name}': write CALL ({name}) {{ … }}."
    kept = dict(desk.gone)
    assert desk.bind_query is not None
    try:
        return desk.bind_query(query, inner, desk, kept, importing)
    finally:
        desk.gone.clear()
        desk.gone.update(gone)
