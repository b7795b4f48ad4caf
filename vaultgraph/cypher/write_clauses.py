"""Reading statements that write: CREATE, MERGE, SET, REMOVE and DELETE among the clauses that cypher/clauses reads.

`parse_statement` is the door, used by cypher/write_query only: queries of a vault go through clauses.parse, which
refuses these clauses. No names are checked here.
"""

from dataclasses import replace
from typing import Final

from vaultgraph.cypher.clauses import read_clause, reading
from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.expressions import expression, postfix
from vaultgraph.cypher.patterns import path_pattern, path_patterns
from vaultgraph.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Expression,
    Finish,
    HasLabels,
    LabelAnd,
    LabelExpression,
    LabelName,
    Match,
    PathPattern,
    Property,
    Return,
    Unwind,
)
from vaultgraph.cypher.tokens import split_tokens
from vaultgraph.cypher.write_syntax import (
    Alter,
    AnyClause,
    Change,
    Create,
    Delete,
    Foreach,
    Merge,
    Part,
    RemoveLabels,
    RemoveProperty,
    SetLabels,
    SetProperties,
    SetProperty,
    Statement,
    WriteClause,
)
from vaultgraph.errors import QuerySyntaxError, UnsupportedError

_WRITES: Final = ("CREATE", "MERGE", "SET", "REMOVE", "DELETE", "DETACH", "FOREACH")
_OTHERS: Final = ("LOAD", "DROP", "ALTER", "RENAME", "GRANT", "DENY", "REVOKE")
_BEFORE_NAMES: Final = (":", ".")  # behind these a word is no keyword


def writes(text: str) -> bool:
    """Whether a statement may hold a clause that writes; one that surely holds none is for cypher/query.

    Raises:
        QuerySyntaxError: the text holds what no token is.
    """
    words = split_tokens(text).words
    return any(word in _WRITES and words[index - 1] not in _BEFORE_NAMES for index, word in enumerate(words))


def parse_statement(text: str) -> Statement:
    """The syntax tree of one statement that may read and write.

    Raises:
        QuerySyntaxError: the text is not Cypher.
        ReadOnlyError: it changes something other than the nodes and relationships of a graph.
        UnsupportedError: right Cypher that is not run.
    """
    cursor = reading(text)
    if cursor.word in ("EXPLAIN", "PROFILE"):
        reason = f"{cursor.word} shows the plan of a query that only reads: a statement that writes has several."
        raise UnsupportedError(reason, text, cursor.starts[0], cursor.ends[0])
    parts = [_part(cursor)]
    kept: list[bool] = []
    while cursor.accept("UNION"):
        kept.append(cursor.accept("ALL"))
        cursor.accept("DISTINCT")
        if kept[-1] != kept[0]:
            raise cursor.error("UNION and UNION ALL cannot be mixed in one query.")
        parts.append(_part(cursor))
    cursor.accept(";")
    if cursor.kinds[cursor.index] != "end":
        raise cursor.unexpected(("UNION", *_WRITES))
    for pattern in cursor.bare.values():
        raise QuerySyntaxError(
            "A pattern is true or false, not a value: use EXISTS { … }, COUNT { … } or [pattern | value] here.",
            text,
            *pattern.at,
        )
    return Statement(tuple(parts), bool(kept) and kept[0], at=cursor.span(0))


def _part(cursor: Cursor) -> Part:
    """Clauses up to RETURN, or up to one that writes with nothing behind it."""
    first = cursor.index
    clauses: list[AnyClause] = []
    while not (clauses and isinstance(clauses[-1], Return | Finish)):
        if clauses and (cursor.kinds[cursor.index] == "end" or cursor.word in ("UNION", ";")):
            break
        if cursor.word in _OTHERS:
            raise _unsupported(cursor)
        clause = write_clause(cursor) if cursor.word in _WRITES else read_clause(cursor, clauses)
        reads = isinstance(clause, Match | Unwind | CallProcedure | CallSubquery)
        if reads and clauses and isinstance(clauses[-1], WriteClause):
            raise QuerySyntaxError(
                "WITH stands between a clause that writes and one that reads.", cursor.text, *clause.at
            )
        clauses.append(clause)
    if not isinstance(clauses[-1], Return | Finish | WriteClause) and not (
        isinstance(clauses[-1], CallProcedure) and _ends_with(clauses, clauses[-1])
    ):
        raise cursor.error("The statement must end with RETURN, or with a clause that writes.")
    return Part(tuple(clauses), at=cursor.span(first))


def _ends_with(clauses: list[AnyClause], call: CallProcedure) -> bool:
    """Whether a CALL may be the last clause: it stands alone, or is called for what it does."""
    return len(clauses) == 1 or call.yields is None


def write_clause(cursor: Cursor) -> WriteClause:
    """The clause that starts here, at one of the words of clauses that write.

    Raises:
        QueryError: it is wrong.
    """
    first = cursor.index
    word = cursor.word
    cursor.index += 1
    clause: WriteClause
    match word:
        case "CREATE":
            if cursor.is_name(cursor.index) and cursor.words[cursor.index + 1] not in ("=", "("):
                raise _unsupported(cursor)
            clause = Create(_patterns(cursor))
        case "MERGE":
            clause = _merge(cursor)
        case "SET":
            clause = Alter(_changes(cursor))
        case "REMOVE":
            clause = Alter(_removals(cursor))
        case "FOREACH":
            clause = _foreach(cursor)
        case _:
            if word == "DETACH":
                cursor.expect("DELETE", "DETACH is followed by DELETE")
            clause = Delete(_targets(cursor), word == "DETACH")
    return replace(clause, at=cursor.span(first))


def _unsupported(cursor: Cursor) -> UnsupportedError:
    start, end = cursor.starts[cursor.index], cursor.ends[cursor.index]
    return UnsupportedError(
        f"{cursor.word} is not supported: CREATE, MERGE, SET, REMOVE, DELETE and FOREACH are.",
        cursor.text,
        start,
        end,
    )


def _patterns(cursor: Cursor) -> tuple[PathPattern, ...]:
    cursor.takes_map = True
    patterns = path_patterns(cursor, expression)
    cursor.takes_map = False
    return patterns


def _foreach(cursor: Cursor) -> Foreach:
    cursor.expect("(", "FOREACH is followed by (x IN list | clauses that write)")
    variable = cursor.variable()
    cursor.expect("IN")
    source = expression(cursor, bar_closes=True)
    cursor.expect("|", "a bar stands between the list and the clauses")
    cursor.deeper()
    clauses: list[WriteClause] = []
    while not clauses or cursor.word != ")":
        if cursor.word not in _WRITES:
            raise cursor.error("Within FOREACH stand clauses that write: CREATE, MERGE, SET, REMOVE, DELETE, FOREACH.")
        clauses.append(write_clause(cursor))
    cursor.depth -= 1
    cursor.expect(")")
    return Foreach(variable, source, tuple(clauses))


def _merge(cursor: Cursor) -> Merge:
    pattern = path_pattern(cursor, expression)
    on_create: list[Change] = []
    on_match: list[Change] = []
    while cursor.accept("ON"):
        found = on_create if cursor.word == "CREATE" else on_match
        if not cursor.accept("CREATE"):
            cursor.expect("MATCH", "ON is followed by CREATE or MATCH")
        cursor.expect("SET", "ON CREATE and ON MATCH are followed by SET")
        found += _changes(cursor)
    return Merge(pattern, tuple(on_create), tuple(on_match))


def _changes(cursor: Cursor) -> tuple[Change, ...]:
    found = [_change(cursor)]
    while cursor.accept(","):
        found.append(_change(cursor))
    return tuple(found)


def _target(cursor: Cursor) -> Expression:
    """What is changed; the one before it counts for nothing in how high it is."""
    cursor.height = 0
    return postfix(cursor)


def _change(cursor: Cursor) -> Change:
    """``subject.key = value``, ``subject = map``, ``subject += map`` or ``subject:Label``."""
    first = cursor.index
    target = _target(cursor)
    if isinstance(target, HasLabels):
        return SetLabels(target.subject, label_list(target.labels, cursor), at=cursor.span(first))
    adds = cursor.accept("+")
    cursor.expect("=", "SET takes n.key = value, n = map, n += map or n:Label")
    value = expression(cursor)
    at = cursor.span(first)
    if isinstance(target, Property) and not adds:
        return SetProperty(target.subject, target.key, value, at=at)
    return SetProperties(target, value, adds, at=at)


def _removals(cursor: Cursor) -> tuple[Change, ...]:
    found: list[Change] = []
    while not found or cursor.accept(","):
        first = cursor.index
        target = _target(cursor)
        at = cursor.span(first)
        match target:
            case HasLabels(subject, labels):
                found.append(RemoveLabels(subject, label_list(labels, cursor), at=at))
            case Property(subject, key):
                found.append(RemoveProperty(subject, key, at=at))
            case _:
                raise cursor.error("REMOVE takes n.key or n:Label; a node is removed with DELETE.", first, cursor.index)
    return tuple(found)


def _targets(cursor: Cursor) -> tuple[Expression, ...]:
    found = [expression(cursor)]
    while cursor.accept(","):
        found.append(expression(cursor))
    return tuple(found)


def label_list(labels: LabelExpression | None, cursor: Cursor) -> tuple[str, ...]:
    """The labels of ``:A:B``.

    Raises:
        QuerySyntaxError: it says which labels could be there, not which.
    """
    match labels:
        case None:
            return ()
        case LabelName(name):
            return (name,)
        case LabelAnd(parts) if all(isinstance(part, LabelName) for part in parts):
            return tuple(part.name for part in parts if isinstance(part, LabelName))
        case _:
            raise QuerySyntaxError("Labels are given as :A:B where they are set or removed.", cursor.text, *labels.at)
