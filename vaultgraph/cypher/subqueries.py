"""Reading the queries within braces: EXISTS, COUNT and COLLECT as values, and CALL with braces as a clause.

Called by cypher/forms and cypher/call_clauses. How clauses are read is put into the cursor by cypher/clauses. What only
matches patterns becomes one of the pattern forms, which need no plan of their own.
"""

from collections.abc import Callable
from typing import Literal as Choice

from vaultgraph.cypher.advice import CLAUSES, WRITES
from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.functions.aggregates import is_aggregate
from vaultgraph.cypher.patterns import path_patterns
from vaultgraph.cypher.syntax import (
    Expression,
    Match,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Projection,
    Query,
    Return,
    Subquery,
)
from vaultgraph.cypher.trees import any_tree

Parse = Callable[[Cursor], Expression]
Kind = Choice["exists", "count", "collect"]

_LEVELS = 4  # of the cap on nesting: what reading and binding one query within another takes


def subquery(cursor: Cursor, kind: Kind, parse: Parse) -> Expression:
    """``EXISTS { … }`` and its sisters, from the keyword on.

    Raises:
        QueryError: it is wrong, or COLLECT has no RETURN.
    """
    first = cursor.index
    cursor.index += 1
    opener = cursor.index
    if not _starts_clause(cursor, opener + 1):
        return _pattern_only(cursor, kind, first, parse)
    query = braced_query(cursor)
    at = cursor.span(first)
    if kind == "collect" and not all(isinstance(part.clauses[-1], Return) for part in query.parts):
        raise cursor.error("COLLECT { … } collects what its RETURN gives: end it with RETURN.", first, cursor.index)
    return _pattern_form(query, kind, at) or Subquery(kind, query, at=at)


def braced_query(cursor: Cursor) -> Query:
    """A query and the braces around it, the cursor at the opening one.

    Raises:
        QueryError: it is wrong.
    """
    opener = cursor.index
    cursor.index += 1
    outer = cursor.height, cursor.bar_closes, cursor.takes_map
    cursor.height, cursor.bar_closes, cursor.takes_map = 0, False, False
    cursor.deeper(_LEVELS)
    assert cursor.read_query is not None
    query = cursor.read_query(cursor)
    cursor.depth -= _LEVELS
    highest = cursor.height
    cursor.height, cursor.bar_closes, cursor.takes_map = outer
    cursor.grow(max(cursor.height, highest + 1))
    if cursor.index != cursor.closers[opener]:
        raise cursor.unexpected(["WHERE", *CLAUSES, "}"])
    cursor.index += 1
    return query


def _starts_clause(cursor: Cursor, index: int) -> bool:
    """Whether a clause begins here, or something that cannot be a pattern: ``match = (a)-->()`` is one."""
    word = cursor.words[index]
    if cursor.kinds[index] != "name" or cursor.words[index + 1] == "=":
        return False
    return word in CLAUSES or word in WRITES or word in ("FINISH", "SHOW")


def _pattern_only(cursor: Cursor, kind: Kind, first: int, parse: Parse) -> Expression:
    """``{ patterns WHERE condition }``."""
    opener = cursor.index
    cursor.index += 1
    if kind == "collect":
        raise cursor.unexpected(CLAUSES, "COLLECT { … } holds clauses, MATCH … RETURN value")
    patterns = path_patterns(cursor, parse)
    where = cursor.as_condition(parse(cursor)) if cursor.accept("WHERE") else None
    if cursor.index != cursor.closers[opener]:
        if cursor.word in (*CLAUSES, "ORDER", "SKIP", "LIMIT"):
            raise cursor.error("Before other clauses the patterns need their MATCH: { MATCH … }.")
        raise cursor.unexpected(["WHERE", "}"], "the braces hold patterns and WHERE condition, or whole clauses")
    cursor.index += 1
    at = cursor.span(first)
    return PatternPredicate(patterns, where, at=at) if kind == "exists" else PatternCount(patterns, where, at=at)


def _pattern_form(query: Query, kind: Kind, at: tuple[int, int]) -> Expression | None:
    """The form for a query that is one MATCH and at most a plain RETURN; None for any other."""
    if len(query.parts) != 1:
        return None
    match query.parts[0].clauses:
        case (Match(patterns, where, False),):
            projection = None
        case (Match(patterns, where, False), Return(projection)) if _is_plain(projection):
            pass
        case _:
            return None
    match kind:
        case "exists":
            return PatternPredicate(patterns, where, at=at)
        case "count":
            return PatternCount(patterns, where, at=at)
        case "collect":
            if projection is None or len(patterns) != 1 or projection.star or len(projection.items) != 1:
                return None
            return PatternComprehension(patterns[0], where, projection.items[0].expression, at=at)


def _is_plain(projection: Projection) -> bool:
    """Whether it gives one row for each row, in their order."""
    if projection.distinct or projection.order or projection.skip is not None or projection.limit is not None:
        return False
    return not any(any_tree(item.expression, is_aggregate) for item in projection.items)
