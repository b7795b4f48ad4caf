"""Binding of function calls and aggregates: the function exists, and the arguments are right in number and kind."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from vaultgraph.cypher import kinds
from vaultgraph.cypher.advice import nearest
from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.functions.aggregates import AGGREGATES, Aggregate, find_aggregate
from vaultgraph.cypher.functions.record import Function
from vaultgraph.cypher.kinds import INTEGER, Kind, KindName
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import CountStar, Expression, FunctionCall, Syntax

Binder = Callable[[Expression, Scope, Desk], tuple[Expression, Kind]]

_ELSEWHERE = {
    "len": "size",
    "lcase": "toLower",
    "ucase": "toUpper",
    "tostr": "toString",
    "str": "toString",
    "toint": "toInteger",
    "int": "toInteger",
    "float": "toFloat",
    "number": "toFloat",
    "substr": "substring",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "isnull": "coalesce",
    "now": "datetime",
    "current_date": "date",
    "mean": "avg",
    "average": "avg",
    "rels": "relationships",
    "group_concat": "collect",
    "array_agg": "collect",
    "list": "collect",
}


def is_aggregate(tree: Syntax) -> bool:
    """Whether the tree is itself a call of an aggregate."""
    return isinstance(tree, CountStar) or (isinstance(tree, FunctionCall) and find_aggregate(tree.name) is not None)


def check_kind(tree: Expression, kind: Kind, refused: Iterable[KindName], rule: str, desk: Desk) -> None:
    """Refuse a value that surely is of one of the kinds; ``rule`` says what is right.

    Raises:
        BindError: it is.
    """
    if kinds.is_refused(tree, kind, refused):
        raise desk.error(f"{rule}, and this is {kinds.shown(kind)}.", tree.at)


def bind_call(tree: FunctionCall | CountStar, scope: Scope, desk: Desk, bind: Binder) -> tuple[Expression, Kind]:
    """The call with bound arguments, and the kind of its result.

    Raises:
        BindError: no such function, wrong arguments, or an aggregate in the wrong place.
    """
    aggregate = AGGREGATES["count"] if isinstance(tree, CountStar) else find_aggregate(tree.name)
    if aggregate is not None:
        return _bind_aggregate(tree, aggregate, scope, desk, bind)
    assert isinstance(tree, FunctionCall)
    function = registry.find(tree.name)
    if function is None:
        raise _unknown(tree, desk)
    if tree.distinct:
        raise desk.error(f"DISTINCT belongs to aggregates such as count, and {function.name} is none.", tree.at)
    _check_count(tree, function, desk)
    bound = [bind(argument, scope, desk) for argument in tree.arguments]
    argument_kinds = [kind for _, kind in bound]
    for position, kind in enumerate(argument_kinds):
        if kinds.refused_argument(function, position, kind):
            raise desk.error(
                f"{function.name} cannot take {kinds.shown(kind)}: {function.signature}.", tree.arguments[position].at
            )
    arguments = tuple(argument for argument, _ in bound)
    same = all(new is old for new, old in zip(arguments, tree.arguments, strict=True))
    return (tree if same else replace(tree, arguments=arguments)), kinds.kind_of_call(function, argument_kinds)


def _bind_aggregate(
    tree: FunctionCall | CountStar, aggregate: Aggregate, scope: Scope, desk: Desk, bind: Binder
) -> tuple[Expression, Kind]:
    if scope.no_aggregates is not None:
        advice = "" if scope.no_aggregates.startswith("inside") else " Name it in a WITH before: WITH …, count(*) AS c."
        raise desk.error(f"{aggregate.name} is an aggregate and cannot stand {scope.no_aggregates}.{advice}", tree.at)
    if isinstance(tree, CountStar):
        return tree, INTEGER
    _check_count(tree, aggregate, desk)
    inner = scope.without_aggregates(f"inside the aggregate {aggregate.name}")
    bound = [bind(argument, inner, desk) for argument in tree.arguments]
    kind = kinds.kind_of_aggregate(aggregate.name, [kind for _, kind in bound])
    return replace(tree, arguments=tuple(argument for argument, _ in bound)), kind


def _check_count(tree: FunctionCall, function: Function | Aggregate, desk: Desk) -> None:
    count, least, most = len(tree.arguments), function.least, function.most
    if count < least or (most is not None and count > most):
        wanted = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        noun = "argument" if wanted == "1" else "arguments"
        raise desk.error(f"{function.name} takes {wanted} {noun}, not {count}: {function.signature}.", tree.at)


def _unknown(tree: FunctionCall, desk: Desk) -> Exception:
    names = [*registry.names(), *(aggregate.name for aggregate in AGGREGATES.values())]
    elsewhere = _ELSEWHERE.get(tree.name.lower())
    near = elsewhere if elsewhere in names else nearest(tree.name, names)
    more = "" if near else " CALL dbms.functions() lists them all."
    at = (tree.at[0], tree.at[0] + len(tree.name))
    return desk.error(f"There is no function '{tree.name}'.{more}", at, near)
