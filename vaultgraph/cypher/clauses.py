"""Reading a whole query: clauses in their order, UNION, and what stands before and behind. `parse` is the door.

The last step of reading; cypher/bind checks the names. Clauses that write are refused here by name.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal as Choice

from vaultgraph.cypher.advice import CLAUSES, WRITES, for_other_language, nearest, write_refusal
from vaultgraph.cypher.call_clauses import call, returns, show
from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.expressions import condition, expression
from vaultgraph.cypher.patterns import path_patterns
from vaultgraph.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Finish,
    Match,
    OrderItem,
    Projection,
    ProjectionItem,
    Query,
    Return,
    SingleQuery,
    Syntax,
    Unwind,
    Variable,
    With,
)
from vaultgraph.cypher.tokens import split_tokens
from vaultgraph.errors import QuerySyntaxError, UnsupportedError

_MODES: dict[str, Choice["explain", "profile"]] = {"EXPLAIN": "explain", "PROFILE": "profile"}
_OPERATORS = ("AND", "OR", "XOR", "NOT", "IN", "CONTAINS", "STARTS", "ENDS")
_AFTER_PROJECTION = ("ORDER", "SKIP", "LIMIT", "OFFSET", "UNION", "FORMAT")
_AFTER_ITEM = frozenset((*CLAUSES, *_AFTER_PROJECTION, *WRITES, "FINISH"))
_MEANT_AFTER_ITEM = ("AS", *_AFTER_PROJECTION, *CLAUSES, *_OPERATORS, "ASC", "DESC")


def parse(text: str) -> Query:
    """The syntax tree of one read-only statement.

    Raises:
        QuerySyntaxError: the text is not Cypher; the message says where and what is expected.
        ReadOnlyError: it is a statement that writes.
        UnsupportedError: right Cypher that is not run.
    """
    cursor = reading(text)
    if cursor.kinds[0] == "end" or cursor.word == ";":
        raise QuerySyntaxError("The query is empty. A first one: MATCH (n) RETURN labels(n), count(*)", text)
    mode = _MODES.get(cursor.word)
    if mode:
        cursor.index += 1
        if cursor.word in _MODES:
            raise cursor.error("One of EXPLAIN and PROFILE: PROFILE shows all that EXPLAIN does.")
    query = _union(cursor, is_nested=False)
    csv = cursor.accept("FORMAT")
    if csv:
        cursor.expect("CSV", "the only format is FORMAT CSV")
    _check_end(cursor)
    for pattern in cursor.bare.values():
        raise QuerySyntaxError(
            "A pattern is true or false, not a value: use EXISTS { … }, COUNT { … } or [pattern | value] here.",
            text,
            *pattern.at,
        )
    return replace(query, mode=mode or "run", csv=csv, at=cursor.span(0))


def reading(text: str) -> Cursor:
    """The start of a text, with all that reading its clauses needs.

    Raises:
        QuerySyntaxError: it holds what no token is.
    """
    cursor = Cursor(split_tokens(text))
    cursor.read_query = _nested_query
    return cursor


def _nested_query(cursor: Cursor) -> Query:
    """The query within braces, up to the closing one."""
    return _union(cursor, is_nested=True)


def _union(cursor: Cursor, *, is_nested: bool) -> Query:
    first = cursor.index
    parts = [_single_query(cursor, is_nested=is_nested)]
    union_all: list[bool] = []
    while cursor.word == "UNION":
        start = cursor.index
        cursor.index += 1
        union_all.append(cursor.accept("ALL"))
        cursor.accept("DISTINCT")
        if union_all[-1] != union_all[0]:
            raise cursor.error("UNION and UNION ALL cannot be mixed in one query.", start, cursor.index)
        parts.append(_single_query(cursor, is_nested=is_nested))
    return Query(tuple(parts), tuple(union_all), at=cursor.span(first))


def _check_end(cursor: Cursor) -> None:
    """Nothing may follow but one semicolon."""
    if cursor.accept(";") and cursor.kinds[cursor.index] != "end":
        raise cursor.error("One statement at a time: a second one starts here.")
    if cursor.kinds[cursor.index] == "end":
        return
    word = cursor.word
    if word in ("WHERE", "MATCH", "WITH", "RETURN", "UNWIND", "OPTIONAL", "CALL"):
        advice = "filter with WITH … WHERE … RETURN …" if word == "WHERE" else "go on with WITH instead of RETURN"
        raise cursor.error(f"RETURN ends the query, so {word} cannot follow it: {advice}.")
    if word == "ORDER" or word in ("SKIP", "OFFSET", "LIMIT"):
        raise cursor.error("The order is RETURN … ORDER BY … SKIP … LIMIT …, each once.")
    raise cursor.unexpected(_AFTER_PROJECTION, also=("ASC", "DESC", *CLAUSES, *_OPERATORS))


def _single_query(cursor: Cursor, *, is_nested: bool) -> SingleQuery:
    """Clauses up to and with RETURN, or a CALL that stands alone; within braces they may end with others."""
    first = cursor.index
    clauses: list[Clause] = []
    while True:
        clauses.append(read_clause(cursor, clauses))
        if isinstance(clauses[-1], Return | Finish):
            break
        if cursor.kinds[cursor.index] == "end" or cursor.word in ("UNION", "FORMAT", ";", "}"):
            if is_nested and not isinstance(clauses[-1], With):
                break
            if len(clauses) == 1 and isinstance(clauses[0], CallProcedure):
                break
            if isinstance(clauses[-1], CallSubquery) and not returns(clauses[-1].query):
                break
            raise cursor.error("The query says what to find, not what to answer: it must end with RETURN.")
    for clause in clauses if len(clauses) > 1 else []:
        if isinstance(clause, CallProcedure) and (clause.arguments is None or clause.star):
            what = "gives its arguments in brackets" if clause.arguments is None else "names its YIELDs"
            raise QuerySyntaxError(
                f"A CALL within a query {what}: CALL {clause.name}(…) YIELD name.", cursor.text, *clause.at
            )
    return SingleQuery(tuple(clauses), at=cursor.span(first))


def read_clause(cursor: Cursor, before: Sequence[Syntax]) -> Clause:
    """The next clause; ``before`` are those of the same part that were read, for what errors say.

    Raises:
        QueryError: it is none, or one that writes (cypher/write_clauses reads those where they are allowed).
    """
    match cursor.word:
        case "OPTIONAL" if cursor.words[cursor.index + 1] == "CALL":
            return call(cursor)
        case "MATCH" | "OPTIONAL":
            return _match(cursor)
        case "WITH":
            return _with(cursor)
        case "RETURN":
            first = cursor.index
            cursor.index += 1
            projection = _projection(cursor)
            return Return(projection, at=cursor.span(first))
        case "UNWIND":
            return _unwind(cursor)
        case "CALL":
            return call(cursor)
        case "SHOW" if not before:
            return show(cursor)
        case "FINISH":
            cursor.index += 1
            return Finish(at=cursor.span(cursor.index - 1))
        case _:
            raise _not_a_clause(cursor, before)


def _not_a_clause(cursor: Cursor, before: Sequence[Syntax]) -> Exception:
    """The error where a clause should start."""
    index, word = cursor.index, cursor.word
    start, end = cursor.starts[index], cursor.ends[index]
    if word in WRITES:
        return write_refusal(word, cursor.text, start, end)
    if word == "WHERE":
        if before and isinstance(before[-1], Match | With):
            return cursor.error("A second WHERE: join the conditions with AND.")
        return cursor.error("WHERE belongs to MATCH, WITH or CALL … YIELD; here, put WITH * before it.")
    if word in ("ORDER", "SKIP", "LIMIT", "OFFSET"):
        return cursor.error(f"{word} belongs to WITH or RETURN.")
    if not before and cursor.kinds[index] == "name":
        foreign = for_other_language(word, cursor.text, start, end)
        clauses = ("MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "CALL", "EXPLAIN", "PROFILE")
        reason = f"A query starts with MATCH, RETURN, WITH, UNWIND or CALL, not with '{cursor.values[index]}'."
        return foreign or QuerySyntaxError(reason, cursor.text, start, end, nearest(word, clauses))
    if before and isinstance(before[-1], Match | Unwind | With | CallProcedure | CallSubquery) and word == ",":
        return cursor.error("A comma here joins nothing.")
    return cursor.unexpected(CLAUSES, also=_OPERATORS)


def _match(cursor: Cursor) -> Match:
    first = cursor.index
    optional = cursor.accept("OPTIONAL")
    cursor.expect("MATCH", "OPTIONAL is followed by MATCH" if optional else "")
    patterns = path_patterns(cursor, expression)
    where = condition(cursor) if cursor.accept("WHERE") else None
    return Match(patterns, where, optional, at=cursor.span(first))


def _unwind(cursor: Cursor) -> Unwind:
    first = cursor.index
    cursor.index += 1
    source = expression(cursor)
    cursor.expect("AS", "UNWIND list is followed by AS name")
    return Unwind(source, cursor.variable(), at=cursor.span(first))


def _with(cursor: Cursor) -> With:
    first = cursor.index
    cursor.index += 1
    projection = _projection(cursor)
    where = condition(cursor) if cursor.accept("WHERE") else None
    return With(projection, where, at=cursor.span(first))


def _projection(cursor: Cursor) -> Projection:
    """What follows WITH or RETURN: [DISTINCT] items [ORDER BY …] [SKIP …] [LIMIT …]."""
    first = cursor.index
    distinct = cursor.accept("DISTINCT")
    star = cursor.accept("*")
    items: list[ProjectionItem] = []
    if not star or cursor.accept(","):
        items.append(_item(cursor))
        while cursor.accept(","):
            items.append(_item(cursor))
    order: list[OrderItem] = []
    if cursor.accept("ORDER"):
        cursor.expect("BY", "ORDER is followed by BY")
        order.append(_order_item(cursor))
        while cursor.accept(","):
            order.append(_order_item(cursor))
    skip = expression(cursor) if cursor.accept("SKIP") or cursor.accept("OFFSET") else None
    limit = expression(cursor) if cursor.accept("LIMIT") else None
    return Projection(tuple(items), star, distinct, tuple(order), skip, limit, at=cursor.span(first))


def _item(cursor: Cursor) -> ProjectionItem:
    first = cursor.index
    if cursor.word == "*":
        raise cursor.error("The star comes first: *, expression AS name.")
    tree = expression(cursor)
    start, end = cursor.span(first)
    name, aliased = cursor.text[start:end], False
    if cursor.accept("AS"):
        name, aliased = _alias(cursor), True
    elif isinstance(tree, Variable):
        name = tree.name
    elif cursor.kinds[cursor.index] in ("name", "quoted") and cursor.word not in _AFTER_ITEM:
        raise cursor.unexpected(_MEANT_AFTER_ITEM, _missing_as(cursor, name))
    return ProjectionItem(tree, name, aliased, at=cursor.span(first))


def _missing_as(cursor: Cursor, name: str) -> str:
    """What to say of a name right behind an item; nothing where it is nearly a keyword."""
    if nearest(cursor.word, _MEANT_AFTER_ITEM):
        return ""
    return f"to name a column write {name} AS {cursor.text[cursor.starts[cursor.index] : cursor.ends[cursor.index]]}"


def _alias(cursor: Cursor) -> str:
    """A column name: also a reserved word, unless it starts what must follow."""
    word, follower = cursor.word, cursor.words[cursor.index + 1] if cursor.kinds[cursor.index] != "end" else ""
    if word in (*CLAUSES, *WRITES) or (word == "ORDER" and follower == "BY") or cursor.kinds[cursor.index] == "string":
        if cursor.kinds[cursor.index] == "string":
            raise cursor.error(f"A column name is not a string: write AS `{cursor.values[cursor.index]}`.")
        raise cursor.unexpected([], "a column name is expected after AS")
    name = cursor.any_name("a column name")
    if name.startswith(" "):
        raise cursor.error("A column name cannot start with a space.", cursor.index - 1, cursor.index)
    return name


def _order_item(cursor: Cursor) -> OrderItem:
    first = cursor.index
    tree = expression(cursor)
    descending = cursor.accept("DESC") or cursor.accept("DESCENDING")
    if not descending and not cursor.accept("ASC"):
        cursor.accept("ASCENDING")
    if cursor.word == "NULLS":
        raise UnsupportedError(
            "NULLS FIRST and NULLS LAST are not supported: order by x IS NULL first.",
            cursor.text,
            cursor.starts[cursor.index],
            cursor.ends[cursor.index + 1],
        )
    return OrderItem(tree, descending, at=cursor.span(first))
