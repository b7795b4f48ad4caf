"""Reading the expressions with a form of their own: CASE, brackets, quantifiers, reduce, subqueries, map projections.

The part of cypher/expressions that is not operators. How a nested expression is read is handed in by it.
"""

from collections.abc import Callable
from typing import Literal as Choice

from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.patterns import path_pattern, starts_pattern
from vaultgraph.cypher.subqueries import subquery
from vaultgraph.cypher.syntax import (
    Binary,
    Case,
    Comparison,
    CountStar,
    Expression,
    FunctionCall,
    ListComprehension,
    ListLiteral,
    MapProjection,
    PathPattern,
    PatternComprehension,
    PatternPredicate,
    Property,
    Quantifier,
    Reduce,
    Variable,
)
from vaultgraph.cypher.trees import is_stable

Parse = Callable[[Cursor], Expression]
ParseCompared = Callable[[Cursor, Expression], Expression | None]
ParseToBar = Callable[[Cursor, bool], Expression]

_QUANTIFIERS: dict[str, Choice["all", "any", "none", "single"]] = {
    "ALL": "all",
    "ANY": "any",
    "NONE": "none",
    "SINGLE": "single",
}
_MOST_SUBJECT = 50  # tokens of what CASE compares, since it is repeated in each condition
_TRIMS = {"BOTH": "btrim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def bracket(cursor: Cursor, parse: ParseToBar) -> Expression:
    """A list, a list comprehension or a pattern comprehension: decided by the first tokens inside the bracket."""
    first = cursor.index
    words = cursor.words
    inside = first + 1
    if cursor.is_name(inside) and words[inside + 1] == "IN" and not _has_comma(cursor, first):
        return _list_comprehension(cursor, parse)
    path = inside + 2 if cursor.is_name(inside) and words[inside + 1] == "=" else inside
    if words[path] == "(" and starts_pattern(cursor, path):
        return _pattern_comprehension(cursor, parse)
    cursor.index += 1
    items: list[Expression] = []
    while not cursor.accept("]"):
        if items:
            cursor.expect(",", "the items of a list are separated by commas")
        items.append(parse(cursor, False))
    return ListLiteral(tuple(items), at=cursor.span(first))


def case(cursor: Cursor, parse: Parse, parse_compared: ParseCompared) -> Expression:
    """``CASE [subject] WHEN … THEN … [ELSE …] END``.

    A simple one may test several values and compare (``WHEN 1, 2``, ``WHEN > 3``); it is then read as a searched one.
    """
    first = cursor.index
    cursor.index += 1
    subject = None if cursor.word == "WHEN" else parse(cursor)
    size, height = cursor.index - first, cursor.height
    branches: list[tuple[Expression, Expression]] = []
    conditions: list[Expression] = []
    while cursor.accept("WHEN"):
        if subject is None:
            test = condition = cursor.as_condition(parse(cursor))
        else:
            cursor.height = height
            test, condition = _tests(cursor, subject, parse, parse_compared)
        cursor.expect("THEN", "CASE WHEN condition is followed by THEN value")
        branches.append((test, parse(cursor)))
        conditions.append(condition)
    if not branches:
        raise cursor.unexpected(["WHEN"], "CASE needs WHEN condition THEN value")
    if any(test is condition for (test, _), condition in zip(branches, conditions, strict=True)):
        if size > _MOST_SUBJECT or (subject is not None and not is_stable(subject)):
            reason = (
                "What CASE compares is repeated in each WHEN, so it cannot be long or change: name it in a WITH before."
            )
            raise cursor.error(reason, first, first + 1)
        subject = None
        branches = [(test, result) for test, (_, result) in zip(conditions, branches, strict=True)]
    default = parse(cursor) if cursor.accept("ELSE") else None
    cursor.expect("END", "CASE is closed by END")
    return Case(subject, tuple(branches), default, at=cursor.span(first))


def _tests(
    cursor: Cursor, subject: Expression, parse: Parse, parse_compared: ParseCompared
) -> tuple[Expression, Expression]:
    """What follows WHEN of a simple CASE: as a value, and as a condition; the same where it is more than one value."""
    first = cursor.index
    values: list[Expression] = []
    condition: Expression | None = None
    while True:
        compared = parse_compared(cursor, subject)
        if compared is None:
            values.append(parse(cursor))
        else:
            condition = compared if condition is None else Binary("OR", condition, compared, at=cursor.span(first))
            cursor.grow(cursor.height + 1)
        if not cursor.accept(","):
            break
    at = cursor.span(first)
    if condition is None and len(values) == 1:
        return values[0], Comparison(subject, (("=", values[0]),), at=at)
    if values:
        equal = Binary("IN", subject, ListLiteral(tuple(values), at=at), at=at)
        condition = equal if condition is None else Binary("OR", condition, equal, at=at)
    assert condition is not None
    return condition, condition


def quantifier(cursor: Cursor, parse: Parse) -> Expression | None:
    """``all(x IN list WHERE …)`` and its sisters; None where the call is not of this form."""
    first = cursor.index
    kind = _QUANTIFIERS[cursor.word]
    if cursor.words[first + 1] != "(" or not cursor.is_name(first + 2) or cursor.words[first + 3] != "IN":
        return None
    cursor.index += 2
    variable = cursor.variable()
    cursor.index += 1
    source = parse(cursor)
    cursor.expect("WHERE", f"{kind}({variable} IN list WHERE condition) needs its condition")
    where = cursor.as_condition(parse(cursor))
    cursor.expect(")")
    return Quantifier(kind, variable, source, where, at=cursor.span(first))


def reduce_call(cursor: Cursor, parse: ParseToBar) -> Expression:
    """``reduce(sum = 0, x IN list | sum + x)``."""
    first = cursor.index
    cursor.index += 2
    how = "reduce is written reduce(sum = 0, x IN list | sum + x)"
    accumulator = cursor.variable("an accumulator variable")
    cursor.expect("=", how)
    start = parse(cursor, False)
    cursor.expect(",", how)
    variable = cursor.variable()
    cursor.expect("IN", how)
    source = parse(cursor, True)
    cursor.expect("|", how)
    step = parse(cursor, False)
    cursor.expect(")")
    return Reduce(accumulator, start, variable, source, step, at=cursor.span(first))


def exists_call(cursor: Cursor, parse: Parse) -> Expression | None:
    """``EXISTS { … }`` or ``exists((a)-->(b))``; None for ``exists(n.p)``, which is read as a call."""
    first = cursor.index
    if cursor.words[first + 1] == "{":
        return subquery(cursor, "exists", parse)
    pattern = _pattern_argument(cursor, parse)
    return pattern and PatternPredicate((pattern,), bare=True, at=cursor.span(first))


def count_call(cursor: Cursor, parse: Parse) -> Expression | None:
    """``COUNT { … }`` or ``count(*)``; None for any other call of count."""
    first = cursor.index
    if cursor.words[first + 1] == "{":
        return subquery(cursor, "count", parse)
    if cursor.words[first + 1] == "(" and cursor.words[first + 2] == "*" and cursor.words[first + 3] == ")":
        cursor.index += 4
        return CountStar(at=cursor.span(first))
    return None


def collect_call(cursor: Cursor, parse: Parse) -> Expression:
    """``COLLECT { … RETURN expression }``."""
    return subquery(cursor, "collect", parse)


def size_call(cursor: Cursor, parse: Parse) -> Expression | None:
    """None: ``size((a)-->(b))``, which once counted paths, is refused with what counts them now."""
    first = cursor.index
    if _pattern_argument(cursor, parse) is not None:
        shown = cursor.text[cursor.ends[first + 1] : cursor.starts[cursor.index - 1]]
        raise cursor.error(f"size takes no pattern: count its matches with COUNT {{ {shown} }}.", first, cursor.index)
    return None


def trim_call(cursor: Cursor, parse: Parse) -> Expression | None:
    """``trim(BOTH 'x' FROM text)``, LEADING and TRAILING likewise; None for any other call of trim."""
    first = cursor.index
    name = _TRIMS.get(cursor.words[first + 2])
    if name is None or cursor.kinds[first + 3] not in ("string", "name", "quoted", "parameter"):
        return None
    cursor.index += 3
    characters = () if cursor.word == "FROM" else (parse(cursor),)
    cursor.expect("FROM", "trim is written trim(BOTH 'x' FROM text)")
    text = parse(cursor)
    cursor.expect(")")
    return FunctionCall(name, (text, *characters), at=cursor.span(first))


def map_projection(cursor: Cursor, subject: Expression, first: int, parse: Parse) -> Expression:
    """``subject {.a, .*, key: expression, other}``; ``first`` is the token the subject starts at."""
    cursor.index += 1
    entries: list[tuple[str, Expression]] = []
    everything, count = False, 0
    while not cursor.accept("}"):
        if count:
            cursor.expect(",", "the entries of a map projection are separated by commas")
        count += 1
        start = cursor.index
        if cursor.accept("."):
            if cursor.accept("*"):
                everything = True
            else:
                key = cursor.any_name("a property key")
                entries.append((key, Property(subject, key, at=cursor.span(start))))
        elif cursor.words[start + 1] == ":":
            key = cursor.any_name("a key")
            cursor.index += 1
            entries.append((key, parse(cursor)))
        else:
            name = cursor.variable("an entry such as .property, .*, key: value or a variable")
            entries.append((name, Variable(name, at=cursor.span(start))))
    return MapProjection(subject, tuple(entries), everything, at=cursor.span(first))


def _list_comprehension(cursor: Cursor, parse: ParseToBar) -> Expression:
    first = cursor.index
    cursor.index += 1
    variable = cursor.variable()
    cursor.index += 1
    source = parse(cursor, True)
    where = cursor.as_condition(parse(cursor, True)) if cursor.accept("WHERE") else None
    projection = parse(cursor, False) if cursor.accept("|") else None
    cursor.expect("]", "a list comprehension is written [x IN list WHERE condition | value]")
    return ListComprehension(variable, source, where, projection, at=cursor.span(first))


def _pattern_comprehension(cursor: Cursor, parse: ParseToBar) -> Expression:
    first = cursor.index
    cursor.index += 1
    pattern = path_pattern(cursor, lambda inner: parse(inner, False))
    where = cursor.as_condition(parse(cursor, True)) if cursor.accept("WHERE") else None
    cursor.expect("|", "a pattern comprehension is written [(a)-->(b) WHERE condition | value]")
    projection = parse(cursor, False)
    cursor.expect("]")
    return PatternComprehension(pattern, where, projection, at=cursor.span(first))


def _has_comma(cursor: Cursor, opener: int) -> bool:
    """Whether a bracket holds a comma of its own; brackets inside are stepped over: all scans together are linear."""
    index, close = opener + 1, cursor.closers[opener]
    while index < close:
        if cursor.words[index] == ",":
            return True
        index = cursor.closers.get(index, index) + 1
    return False


def _pattern_argument(cursor: Cursor, parse: Parse) -> PathPattern | None:
    """The pattern that is the only argument of the call at the cursor, stepped over with the call; else None."""
    opener = cursor.index + 1
    if cursor.words[opener] != "(" or cursor.words[opener + 1] != "(" or not starts_pattern(cursor, opener + 1):
        return None
    cursor.index += 2
    pattern = path_pattern(cursor, parse)
    cursor.expect(")")
    return pattern
