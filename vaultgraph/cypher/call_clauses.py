"""Reading CALL: of a procedure, and of a query in braces; and SHOW, which is a CALL in other words.

Called by cypher/clauses. Whether procedures exist and what they take is for cypher/bind_procedures.
"""

from typing import Final

from vaultgraph.cypher.cursor import Cursor
from vaultgraph.cypher.expressions import condition, expression
from vaultgraph.cypher.subqueries import braced_query
from vaultgraph.cypher.syntax import CallProcedure, CallSubquery, Expression, Finish, Query, Return
from vaultgraph.errors import QuerySyntaxError, UnsupportedError

_SHOWN: Final = {
    "FUNCTION": "dbms.functions",
    "FUNCTIONS": "dbms.functions",
    "INDEX": "db.indexes",
    "INDEXES": "db.indexes",
    "PROCEDURE": "dbms.procedures",
    "PROCEDURES": "dbms.procedures",
}


def returns(query: Query) -> bool:
    """Whether a query within braces gives columns."""
    return isinstance(query.parts[0].clauses[-1], Return)


def call(cursor: Cursor) -> CallProcedure | CallSubquery:
    """``CALL name(…) YIELD …`` or ``[OPTIONAL] CALL (…) { … }``.

    Raises:
        QueryError: it is wrong.
    """
    first = cursor.index
    optional = cursor.accept("OPTIONAL")
    cursor.index += 1
    if cursor.word in ("{", "("):
        return _subquery(cursor, first, optional=optional)
    if optional:
        raise UnsupportedError("OPTIONAL CALL is supported for CALL (…) { … } only.", cursor.text, *cursor.span(first))
    name = cursor.any_name("the name of a procedure")
    while cursor.accept("."):
        name += "." + cursor.any_name("the name of a procedure")
    arguments = _arguments(cursor) if cursor.accept("(") else None
    yields, star, where = _yielded(cursor)
    return CallProcedure(name, arguments, yields, star, where, at=cursor.span(first))


def show(cursor: Cursor) -> CallProcedure:
    """``SHOW FUNCTIONS`` and its sisters, with YIELD and WHERE as in CALL; WHERE alone may use all columns.

    Raises:
        QueryError: there is nothing to show of that name.
    """
    first = cursor.index
    cursor.index += 1
    if not cursor.accept("ALL") and cursor.accept("BUILT"):
        cursor.expect("IN")
    name = _SHOWN.get(cursor.word)
    if name is None:
        raise UnsupportedError(
            "There is SHOW FUNCTIONS, SHOW PROCEDURES and SHOW INDEXES. What the graph holds: CALL db.labels(), "
            "CALL db.relationshipTypes(), CALL db.propertyKeys().",
            cursor.text,
            cursor.starts[first],
            cursor.ends[cursor.index],
        )
    cursor.index += 1
    yields, star, where = _yielded(cursor)
    if cursor.accept("WHERE"):
        star, where = True, condition(cursor)
    return CallProcedure(name, (), yields, star, where, at=cursor.span(first))


def _yielded(cursor: Cursor) -> tuple[tuple[tuple[str, str], ...] | None, bool, Expression | None]:
    """What YIELD takes, whether that is the star, and the condition behind it."""
    if not cursor.accept("YIELD"):
        return None, False, None
    star = cursor.accept("*")
    yields = None if star else _yields(cursor)
    return yields, star, condition(cursor) if cursor.accept("WHERE") else None


def _subquery(cursor: Cursor, first: int, *, optional: bool) -> CallSubquery:
    imports: list[str] | None = None
    star = False
    if cursor.accept("("):
        imports = []
        star = cursor.accept("*")
        while not cursor.accept(")"):
            if star or imports:
                cursor.expect(",", "the variables a subquery takes are separated by commas, and closed by )")
            imports.append(cursor.variable())
        if star and imports:
            raise cursor.error("CALL (*) takes every variable: name none beside it.", first, cursor.index)
    if cursor.word != "{":
        raise cursor.unexpected(["{"], "CALL (variables) is followed by { … }")
    query = braced_query(cursor)
    at = cursor.span(first)
    for part in query.parts:
        last = part.clauses[-1]
        if isinstance(last, Return) != returns(query):
            raise QuerySyntaxError("Either every part of a UNION ends with RETURN or none.", cursor.text, *last.at)
        is_unit = isinstance(last, Finish) or (isinstance(last, CallSubquery) and not returns(last.query))
        if not isinstance(last, Return) and not is_unit:
            raise QuerySyntaxError("A subquery ends with RETURN, or with FINISH.", cursor.text, *last.at)
    return CallSubquery(query, None if imports is None else tuple(imports), star, optional, at=at)


def _arguments(cursor: Cursor) -> tuple[Expression, ...]:
    arguments: list[Expression] = []
    while not cursor.accept(")"):
        if arguments:
            cursor.expect(",", "arguments are separated by commas, and closed by )")
        arguments.append(expression(cursor))
    return tuple(arguments)


def _yields(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    yields: list[tuple[str, str]] = []
    while not yields or cursor.accept(","):
        column = cursor.any_name("a result column")
        yields.append((column, cursor.variable() if cursor.accept("AS") else column))
    return tuple(yields)
