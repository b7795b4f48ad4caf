"""Binding of CALL: the procedure exists, its arguments are right in number and kind, its columns get variables.

Afterwards arguments and columns are spelled out, also where the query leaves them to be understood.
"""

import re
from dataclasses import replace
from typing import Final

from vaultgraph.cypher import kinds
from vaultgraph.cypher.advice import listed, nearest, write_refusal
from vaultgraph.cypher.bind_expressions import bind_condition, bind_expression
from vaultgraph.cypher.kinds import ANY, Kind
from vaultgraph.cypher.procedures import Procedure
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import CallProcedure, Expression, Parameter

_WRITING: Final = re.compile(
    r"(?i)(?:^|\.)(?:create|merge|set|delete|remove|drop|add|rename|refactor|write|load|import)"
)
"""What the name of a procedure says that changes a graph elsewhere."""
_ELSEWHERE: Final = {
    "label_propagation": "algo.communities",
    "leiden": "algo.communities",
    "louvain": "algo.communities",
    "connected_components": "algo.components",
    "wcc": "algo.components",
    "k_core": "algo.coreness",
    "triangle_count": "algo.triangles",
    "orphan_node": "vault.orphans",
}
"""What some of ours are called by other engines; a name that differs only in what is before the dot needs no entry."""


def bind_call_of_procedure(
    call: CallProcedure, scope: Scope, desk: Desk, *, alone: bool
) -> tuple[CallProcedure, Scope]:
    """The completed CALL and the scope after it; ``alone`` says that it is the whole query.

    Raises:
        BindError: there is no such procedure, or its arguments or columns are wrong.
    """
    procedure = desk.procedures.get(call.name.lower())
    if procedure is None:
        raise _unknown(call, desk)
    arguments = _arguments(call, procedure, scope, desk)
    yields = _yields(call, procedure, scope, desk, alone=alone)
    after = scope.plus({variable: ANY for _, variable in yields})
    where = None if call.where is None else bind_condition(call.where, after.without_aggregates("in WHERE"), desk)
    return replace(call, name=procedure.name, arguments=arguments, yields=yields, star=False, where=where), after


def _unknown(call: CallProcedure, desk: Desk) -> Exception:
    if _WRITING.search(call.name):
        return write_refusal(call.name, desk.text, *call.at)
    names = [one.name for one in desk.procedures.values()]
    lower = call.name.lower()
    ours = [_ELSEWHERE.get(lower), *(name for name in names if name.lower().rpartition(".")[2] == lower)]
    near = next((name for name in ours if name in names), None) or nearest(call.name, names)
    more = "" if near else f" There are: {listed(names, 20)}."
    return desk.error(f"There is no procedure '{call.name}'.{more}", call.at, near)


def _arguments(call: CallProcedure, procedure: Procedure, scope: Scope, desk: Desk) -> tuple[Expression, ...]:
    if call.arguments is None:
        asked = [parameter for parameter in procedure.parameters if not parameter.optional]
        for parameter in asked:
            if parameter.name not in desk.parameters:
                raise desk.missing_parameter(parameter.name, call.at)
        return tuple(Parameter(parameter.name, at=call.at) for parameter in asked)
    most, given = len(procedure.parameters), len(call.arguments)
    least = sum(not parameter.optional for parameter in procedure.parameters)
    if not least <= given <= most:
        wanted = f"{most} argument{'' if most == 1 else 's'}" if least == most else f"{least} to {most} arguments"
        raise desk.error(f"{procedure.name} takes {wanted}, not {given}: {procedure.signature}.", call.at)
    inside = scope.without_aggregates("in CALL")
    bound = [bind_expression(argument, inside, desk) for argument in call.arguments]
    for argument, parameter, (_, kind) in zip(call.arguments, procedure.parameters, bound, strict=False):
        if kinds.is_refused_by(parameter.types, kind):
            raise desk.error(
                f"{procedure.name} cannot take {kinds.shown(kind)} as {parameter.name}: {procedure.signature}.",
                argument.at,
            )
    return tuple(argument for argument, _ in bound)


def _yields(
    call: CallProcedure, procedure: Procedure, scope: Scope, desk: Desk, *, alone: bool
) -> tuple[tuple[str, str], ...]:
    """The result columns with their variables; a CALL within a query names them all itself."""
    yields = call.yields
    if yields is None:
        yields = tuple((column, column) for column in procedure.columns)
        if yields and not alone:
            shown = ", ".join(procedure.columns)
            raise desk.error(
                f"A CALL within a query names its columns: CALL {procedure.name}(…) YIELD {shown}.", call.at
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
