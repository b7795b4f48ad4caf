"""Binding of function calls and aggregates: the function exists, and the arguments are right in number and kind."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from vaultgraph.cypher import kinds
from vaultgraph.cypher.advice import nearest, shortened
from vaultgraph.cypher.functions import registry
from vaultgraph.cypher.functions.aggregates import AGGREGATES, Aggregate, find_aggregate
from vaultgraph.cypher.functions.record import Function
from vaultgraph.cypher.kinds import INTEGER, Kind, KindName
from vaultgraph.cypher.scopes import Desk, Scope
from vaultgraph.cypher.syntax import CountStar, Expression, FunctionCall

_LONG_NAME = 6

Binder = Callable[[Expression, Scope, Desk], tuple[Expression, Kind]]

_ELSEWHERE = {
    "len": "size",
    "ceiling": "ceil",
    "ln": "log",
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
    "first": "head",
    "stddev": "stDev",
    "std": "stDev",
    "typeof": "valueType",
    "today": "date",
    "curdate": "date",
    "current_timestamp": "datetime",
}
_PART = "the parts of a date are properties of it, as in n.date.year, .month, .day or .dayOfWeek"
_FORMAT = "dates have no formats: use toString(date), or join date.year, date.month and date.day"
_QUANTIFIED = "write any(x IN list WHERE condition); all, none and single likewise"
_SORTED = "write coll.sort(list), or order before collecting: WITH x ORDER BY x WITH collect(x) AS xs"
_DISTINCT = "write coll.distinct(list), collect(DISTINCT x), or RETURN DISTINCT x"
_JOINED = "write reduce(t = '', x IN list | t + x + ', ')"
_FOUND = "test with text CONTAINS 'part'; split(text, 'part') gives what stands around it"
_REGEX = "test with text =~ '.*part.*'; replace() and split() take plain texts"
_CASE = "write CASE WHEN condition THEN a ELSE b END"
_PADDED = "write right('000' + toString(n), 3)"
_DAYS = "write duration.inDays(from, to).days"
_LATER = "write date + duration({days: 7})"
_INSTEAD = {
    **dict.fromkeys(("year", "month", "day", "hour", "minute", "quarter", "week", "weekday", "dayofweek"), _PART),
    **dict.fromkeys(("strftime", "date_format", "format", "to_char"), _FORMAT),
    **dict.fromkeys(("any", "all", "none", "single"), _QUANTIFIED),
    **dict.fromkeys(("sort", "sorted", "order", "order_by", "apoc.coll.sort"), _SORTED),
    **dict.fromkeys(("unique", "toset", "apoc.coll.toset"), _DISTINCT),
    **dict.fromkeys(("join", "string_agg", "apoc.text.join"), _JOINED),
    **dict.fromkeys(("index_of", "indexof", "position", "instr", "strpos", "locate", "find"), _FOUND),
    **dict.fromkeys(("regexp_replace", "regexp_matches", "regexp", "regex", "rlike", "match"), _REGEX),
    **dict.fromkeys(("if", "iif", "greatest", "least"), _CASE),
    **dict.fromkeys(("lpad", "rpad"), _PADDED),
    **dict.fromkeys(("datediff", "date_diff", "age"), _DAYS),
    **dict.fromkeys(("dateadd", "date_add", "date_sub"), _LATER),
    "concat": "texts are joined with +, as in a + ' ' + b",
    "contains": "it is an operator: text CONTAINS 'part'",
    "startswith": "it is an operator: text STARTS WITH 'part'",
    "endswith": "it is an operator: text ENDS WITH 'part'",
    "countif": "write count(CASE WHEN condition THEN 1 END)",
    "count_if": "write count(CASE WHEN condition THEN 1 END)",
    "median": "write percentileCont(x, 0.5)",
    "pow": "write a ^ b",
    "power": "write a ^ b",
    "mod": "write a % b",
    "filter": "write [x IN list WHERE condition]",
    "extract": "write [x IN list | value]",
    "slice": "write list[0..3]",
    "flatten": "write coll.flatten(lists)",
}


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
    lower = tree.name.lower()
    at = (tree.at[0], tree.at[0] + len(tree.name))
    advice = _INSTEAD.get(lower)
    if advice is not None:
        return desk.error(f"There is no function '{tree.name}': {advice}.", at)
    near = _ELSEWHERE.get(lower) or nearest(tree.name, names)
    if near is not None and lower not in _ELSEWHERE and not _is_like(lower, near.lower()):
        near = None
    more = "" if near else " CALL dbms.functions() lists them all."
    return desk.error(f"There is no function '{shortened(tree.name)}'.{more}", at, near)


def _is_like(name: str, near: str) -> bool:
    """Whether a near name may be advised: short names that begin differently only look alike."""
    return (name[0] == near[0] or len(name) >= _LONG_NAME) and ("." in name) == ("." in near)
