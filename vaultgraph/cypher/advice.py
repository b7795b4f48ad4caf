"""What to tell the writer of a wrong query: the nearest right name, and the Cypher for what other languages spell.

Pure functions of words; the parser and the binder decide where the advice applies.
"""

from collections.abc import Collection, Iterable
from typing import Final

from vaultgraph.errors import QueryError, QuerySyntaxError, ReadOnlyError, UnsupportedError

RESERVED: Final = frozenset((
    "AND", "AS", "ASC", "ASCENDING", "BY", "CALL", "CASE", "CONTAINS", "CREATE", "DELETE", "DESC", "DESCENDING",
    "DETACH", "DISTINCT", "ELSE", "END", "ENDS", "EXISTS", "FALSE", "IN", "IS", "LIMIT", "MATCH", "MERGE", "NOT",
    "NULL", "OPTIONAL", "OR", "ORDER", "REMOVE", "RETURN", "SET", "SKIP", "STARTS", "THEN", "TRUE", "UNION", "UNWIND",
    "WHEN", "WHERE", "WITH", "XOR",
))  # fmt: skip
"""Words that cannot be a variable without backticks. Labels, types and property keys may be any word."""

CLAUSES: Final = ("MATCH", "OPTIONAL", "WHERE", "WITH", "RETURN", "UNWIND", "UNION", "CALL")
WRITES: Final = frozenset((
    "CREATE", "MERGE", "SET", "DELETE", "DETACH", "NODETACH", "REMOVE", "FOREACH", "LOAD", "DROP", "INSERT", "UPDATE",
    "ALTER", "RENAME", "GRANT", "DENY", "REVOKE", "TRUNCATE",
))  # fmt: skip

_SQL: Final = {
    "SELECT": "Cypher has no SELECT: write MATCH (n:Label) WHERE … RETURN n.property",
    "FROM": "Cypher has no FROM: MATCH (n:Label) says where the data comes from",
    "JOIN": "Cypher has no JOIN: a pattern such as (a)-[:TYPE]->(b) joins",
    "INNER": "Cypher has no JOIN: a pattern such as (a)-[:TYPE]->(b) joins",
    "LEFT": "Cypher has no LEFT JOIN: write OPTIONAL MATCH (a)-[:TYPE]->(b)",
    "GROUP": "Cypher has no GROUP BY: grouping is implicit, by the items of RETURN or WITH that hold no aggregate",
    "HAVING": "Cypher has no HAVING: write WITH key, count(*) AS c WHERE c > 1 RETURN key, c",
    "LIKE": "Cypher has no LIKE: write CONTAINS 'text', STARTS WITH 'text', or =~ '(?i).*text.*'",
    "ILIKE": "Cypher has no ILIKE: write toLower(x) CONTAINS 'text', or =~ '(?i).*text.*'",
    "REGEXP": "A regular expression is matched with =~, against the whole value: x =~ '.*text.*'",
    "BETWEEN": "Cypher has no BETWEEN: write low <= x <= high",
    "STARTSWITH": "Write STARTS WITH, in two words",
    "STARTS_WITH": "Write STARTS WITH, in two words",
    "ENDSWITH": "Write ENDS WITH, in two words",
    "ENDS_WITH": "Write ENDS WITH, in two words",
    "ISNULL": "Write IS NULL",
    "NOTNULL": "Write IS NOT NULL",
    "TOP": "Cypher has no TOP: write LIMIT n at the end",
    "FETCH": "Cypher has no FETCH: write LIMIT n at the end",
    "!=": "Unequal is written <>",
    "==": "Equal is written with one =",
    "&&": "Write AND",
    "!": "Write NOT",
    "&": "Write AND",
}
_LATER: Final = {
    "FILTER": "FILTER is not supported: write WITH * WHERE …",
    "LET": "LET is not supported: write WITH *, expression AS name",
    "INTERSECT": "INTERSECT is not supported: collect one side and test the other with IN",
    "EXCEPT": "EXCEPT is not supported: collect one side and test the other with NOT … IN",
    "SHOW": "SHOW stands at the start: SHOW FUNCTIONS, SHOW PROCEDURES, SHOW INDEXES",
    "USE": "USE is not supported: there is one graph, that of the vault",
    "USING": "USING (a planner hint) is not supported: leave it out",
    "NEXT": "NEXT is not supported: write WITH between the steps",
    "FOR": "FOR … is not supported",
}


def nearest(name: str, candidates: Collection[str]) -> str | None:
    """The candidate most like ``name``, None where none is near; another case of the same word comes first."""
    lower = name.lower()
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    if lower in by_lower:
        return by_lower[lower]
    slack = max(2, len(lower) // 3)
    near_length = [word for word in by_lower if abs(len(word) - len(lower)) <= slack]
    from difflib import get_close_matches  # noqa: PLC0415 -- only for who is mistaken

    found = get_close_matches(lower, near_length, n=1, cutoff=0.65)
    return by_lower[found[0]] if found else None


def listed(names: Iterable[str], most: int = 8) -> str:
    """A few names for a message, with how many more there are."""
    every = sorted(names, key=str.lower)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def shortened(name: str, most: int = 60) -> str:
    """A name for a message, cut where it is very long."""
    return name if len(name) <= most else name[:most] + "…"


def write_refusal(word: str, text: str, start: int, end: int) -> ReadOnlyError:
    """Why a clause that writes is refused, and what to do instead."""
    if word == "LOAD":
        return ReadOnlyError(
            "LOAD is not there: queries see the graph of the notes alone. To bring data in, edit the files.",
            text,
            start,
            end,
        )
    return ReadOnlyError(
        f"{word} changes the graph, and queries only read it. The graph is made from the notes: edit the files, and "
        "the graph follows.",
        text,
        start,
        end,
    )


def for_other_language(word: str, text: str, start: int, end: int) -> QueryError | None:
    """The error for a word of SQL or of another programming or query language; None for any other word."""
    if word in _LATER:
        return UnsupportedError(_LATER[word] + ".", text, start, end)
    advice = _SQL.get(word)
    return QuerySyntaxError(advice + ".", text, start, end) if advice else None
