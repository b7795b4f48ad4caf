"""Binding: the query with every name checked and completed, its columns, and warnings; between reading and planning.

After it every node and relationship pattern has a variable, stars are spelled out, procedures have their columns, and
the parts of a UNION have the same columns in the same order. The rules of expressions, patterns and projections are in
modules of their own; here are the clauses and their scopes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from vaultgraph.cypher import kinds
from vaultgraph.cypher.advice import listed, nearest, write_refusal
from vaultgraph.cypher.bind_expressions import bind_condition, bind_expression
from vaultgraph.cypher.bind_patterns import bind_paths
from vaultgraph.cypher.bind_projections import bind_projection
from vaultgraph.cypher.kinds import ANY, Kind
from vaultgraph.cypher.procedures import PROCEDURES, Procedure, find_procedure
from vaultgraph.cypher.scopes import Desk, Names, Scope
from vaultgraph.cypher.syntax import CallProcedure, Clause, Match, Query, Return, SingleQuery, Unwind, With
from vaultgraph.errors import BindError

_WRITING: Final = re.compile(
    r"(?i)(?:^|\.)(?:create|merge|set|delete|remove|drop|add|rename|refactor|write|load|import)"
)
"""What the name of a procedure says that changes a graph elsewhere."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A query ready to be planned, the names of its result columns, and warnings about names the graph lacks."""

    query: Query
    columns: tuple[str, ...]
    warnings: tuple[str, ...]


def bind(query: Query, text: str, schema: Names | None, parameters: Mapping[str, object]) -> Bound:
    """Check and complete a query; without a ``schema`` there are no warnings.

    Raises:
        BindError: a name is unknown, defined twice or used for what it is not; the span is in ``text``.
    """
    desk = Desk(text, schema, parameters)
    parts: list[SingleQuery] = []
    columns: tuple[str, ...] = ()
    for part in query.parts:
        bound, names = _bind_part(part, desk)
        if not parts:
            columns = names
        elif names != columns:
            bound = _reordered(bound, names, columns, desk)
        parts.append(bound)
    return Bound(replace(query, parts=tuple(parts)), columns, tuple(desk.warnings))


def _bind_part(part: SingleQuery, desk: Desk) -> tuple[SingleQuery, tuple[str, ...]]:
    """One part of a UNION, and its columns."""
    scope = Scope()
    desk.gone.clear()
    alone = len(part.clauses) == 1
    clauses: list[Clause] = []
    for clause in part.clauses:
        bound, scope = bind_clause(clause, scope, desk, alone=alone)
        clauses.append(bound)
    return replace(part, clauses=tuple(clauses)), tuple(scope.kinds)


def bind_clause(clause: Clause, scope: Scope, desk: Desk, *, alone: bool = False) -> tuple[Clause, Scope]:
    """The clause, and the scope after it; ``alone`` says that it is the whole query.

    Raises:
        BindError: see `bind`.
    """
    match clause:
        case CallProcedure():
            return _bind_call(clause, scope, desk, alone=alone)
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


def _bind_call(call: CallProcedure, scope: Scope, desk: Desk, *, alone: bool) -> tuple[CallProcedure, Scope]:
    procedure = find_procedure(call.name)
    if procedure is None:
        if _WRITING.search(call.name):
            raise write_refusal(call.name, desk.text, *call.at)
        names = [one.name for one in PROCEDURES.values()]
        near = nearest(call.name, names)
        more = "" if near else f" There are: {listed(names, 20)}."
        raise desk.error(f"There is no procedure '{call.name}'.{more}", call.at, near)
    arguments = call.arguments
    if arguments is None:
        for name in procedure.parameters:
            if name not in desk.parameters:
                raise desk.missing_parameter(name, call.at)
    else:
        if len(arguments) != len(procedure.parameters):
            wanted = len(procedure.parameters)
            raise desk.error(
                f"{procedure.name} takes {wanted} arguments, not {len(arguments)}: {procedure.signature}.", call.at
            )
        inside = scope.without_aggregates("in CALL")
        arguments = tuple(bind_expression(argument, inside, desk)[0] for argument in arguments)
    yields = _yields(call, procedure, scope, desk, alone=alone)
    after = scope.plus({variable: ANY for _, variable in yields})
    where = None if call.where is None else bind_condition(call.where, after.without_aggregates("in WHERE"), desk)
    return replace(call, arguments=arguments, yields=yields, star=False, where=where), after


def _yields(
    call: CallProcedure, procedure: Procedure, scope: Scope, desk: Desk, *, alone: bool
) -> tuple[tuple[str, str], ...]:
    """The result columns with their variables; without YIELD a CALL within a query gives none."""
    yields = call.yields
    if yields is None:
        yields = tuple((column, column) for column in procedure.columns) if alone else ()
        for column in procedure.columns:
            desk.gone.setdefault(
                column, f"The column '{column}' is not taken: CALL {procedure.name}(…) YIELD {column}."
            )
    seen = dict[str, Kind]()
    for column, variable in yields:
        if column not in procedure.columns:
            near = nearest(column, procedure.columns)
            raise desk.error(f"{procedure.name} has no column '{column}': {procedure.signature}.", call.at, near)
        if variable in scope.kinds or variable in seen:
            raise desk.error(f"The variable '{variable}' is already defined: YIELD {column} AS name.", call.at)
        seen[variable] = ANY
    return yields


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
