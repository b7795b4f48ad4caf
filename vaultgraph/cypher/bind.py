"""Binding: the query with every name checked and completed, its columns, and warnings; between reading and planning.

After it every node and relationship pattern has a variable, stars are spelled out, procedures have their columns, and
the parts of a UNION have the same columns in the same order. The rules of expressions, patterns and projections are in
modules of their own; here are the clauses and their scopes.
"""

from collections.abc import Mapping
from dataclasses import replace

from vaultgraph.cypher import kinds
from vaultgraph.cypher.bind_expressions import bind_condition, bind_expression
from vaultgraph.cypher.bind_patterns import bind_paths
from vaultgraph.cypher.bind_procedures import bind_call_of_procedure
from vaultgraph.cypher.bind_projections import bind_projection
from vaultgraph.cypher.bind_subqueries import bind_call_subquery, importing_scope
from vaultgraph.cypher.kinds import ANY, Kind
from vaultgraph.cypher.procedures import PROCEDURES, Procedure
from vaultgraph.cypher.scopes import Desk, Names, Scope
from vaultgraph.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Finish,
    Match,
    Query,
    Return,
    SingleQuery,
    Unwind,
    With,
)
from vaultgraph.errors import BindError
from vaultgraph.frozen import frozen


@frozen
class Bound:
    """A query ready to be planned, the names of its result columns, and warnings about names the graph lacks."""

    query: Query
    columns: tuple[str, ...]
    warnings: tuple[str, ...]


def bind(
    query: Query,
    text: str,
    schema: Names | None,
    parameters: Mapping[str, object],
    procedures: Mapping[str, Procedure] | None = None,
) -> Bound:
    """Check and complete a query; without a ``schema`` there are no warnings.

    ``procedures`` (by name in lower case) are those it may call beside the ones there are.

    Raises:
        BindError: a name is unknown, defined twice or used for what it is not; the span is in ``text``.
    """
    desk = new_desk(text, schema, parameters, procedures)
    bound, columns = _bind_query(query, Scope(), desk, {}, None)
    return Bound(bound, tuple(columns), tuple(desk.warnings))


def new_desk(
    text: str,
    schema: Names | None,
    parameters: Mapping[str, object],
    procedures: Mapping[str, Procedure] | None = None,
) -> Desk:
    """The desk of one run of binding."""
    known = PROCEDURES if not procedures else {**PROCEDURES, **procedures}
    return Desk(text, schema, parameters, procedures=known, bind_query=_bind_query)


def _bind_query(
    query: Query, scope: Scope, desk: Desk, gone: Mapping[str, str], importing: Scope | None
) -> tuple[Query, dict[str, Kind]]:
    """All parts of a query and its columns.

    ``gone`` are names that are out of scope from the start; ``importing`` is what an importing WITH may name.
    """
    parts: list[SingleQuery] = []
    columns = dict[str, Kind]()
    for part in query.parts:
        desk.gone.clear()
        desk.gone.update(gone)
        bound, found = _bind_part(part, scope, desk, importing)
        names = tuple(found)
        if not parts:
            columns = found
        elif names != tuple(columns):
            bound = _reordered(bound, names, tuple(columns), desk)
        parts.append(bound)
    if len(parts) > 1:
        columns = dict.fromkeys(columns, ANY)
    return replace(query, parts=tuple(parts)), columns


def _bind_part(
    part: SingleQuery, scope: Scope, desk: Desk, importing: Scope | None
) -> tuple[SingleQuery, dict[str, Kind]]:
    """One part of a UNION, and its columns."""
    if importing is not None:
        scope = importing_scope(part, importing, desk)
    alone = len(part.clauses) == 1
    clauses: list[Clause] = []
    for clause in part.clauses:
        bound, scope = bind_clause(clause, scope, desk, alone=alone)
        clauses.append(bound)
    return replace(part, clauses=tuple(clauses)), _columns(clauses[-1], scope)


def _columns(last: Clause, scope: Scope) -> dict[str, Kind]:
    """What a part answers that ends with the clause."""
    match last:
        case Return(projection):
            return {item.name: scope.kinds[item.name] for item in projection.items}
        case CallProcedure(_, _, yields):
            return {variable: scope.kinds[variable] for _, variable in yields or ()}
        case _:
            return {}


def bind_clause(clause: Clause, scope: Scope, desk: Desk, *, alone: bool = False) -> tuple[Clause, Scope]:
    """The clause, and the scope after it; ``alone`` says that it is the whole query.

    Raises:
        BindError: see `bind`.
    """
    match clause:
        case CallProcedure():
            return bind_call_of_procedure(clause, scope, desk, alone=alone)
        case CallSubquery():
            return bind_call_subquery(clause, scope, desk)
        case Finish():
            return clause, Scope()
        case Match(patterns, where, _):
            bound, inner = bind_paths(patterns, scope, desk, bind_expression)
            condition = None if where is None else bind_condition(where, inner.without_aggregates("in WHERE"), desk)
            return replace(clause, patterns=bound, where=condition), inner
        case Unwind(source, variable):
            tree, kind = bind_expression(source, scope.without_aggregates("in UNWIND"), desk)
            if variable in scope.kinds:
                raise desk.error(f"The variable '{variable}' is already defined: give UNWIND a new name.", clause.at)
            item = kinds.item_of(kind) if kind.name == "list" else ANY
            return replace(clause, source=tree), scope.plus({variable: item})
        case With(projection, where):
            done, condition, after = bind_projection(projection, where, scope, desk, last=False)
            for name in scope.kinds.keys() - after.kinds.keys():
                desk.gone[name] = f"The variable '{name}' is gone: WITH keeps only what it names, so add {name} to it."
            return With(done, condition, at=clause.at), after
        case Return(projection):
            done, _, after = bind_projection(projection, None, scope, desk, last=True)
            return Return(done, at=clause.at), after


def _reordered(part: SingleQuery, names: tuple[str, ...], columns: tuple[str, ...], desk: Desk) -> SingleQuery:
    """A part of a UNION with its columns in the order of the first part."""
    last = part.clauses[-1]
    if sorted(names) != sorted(columns) or not isinstance(last, Return):
        raise _union_error(last, names, columns, desk)
    items = {item.name: item for item in last.projection.items}
    projection = replace(last.projection, items=tuple(items[name] for name in columns))
    return replace(part, clauses=(*part.clauses[:-1], replace(last, projection=projection)))


def _union_error(last: Clause, names: tuple[str, ...], columns: tuple[str, ...], desk: Desk) -> BindError:
    return desk.error(
        f"All parts of a UNION need the same columns: here they are {', '.join(names)}, before {', '.join(columns)}. "
        "Name them with AS.",
        last.at,
    )
