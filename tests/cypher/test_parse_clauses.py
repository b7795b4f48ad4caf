"""Reading whole queries: clauses, their order, and errors that teach."""

import pytest

from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.syntax import CallProcedure, Match, Return, Unwind, With
from vaultgraph.errors import QueryError, QuerySyntaxError, ReadOnlyError, UnsupportedError


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return caught.value


def clauses(text: str) -> list[type]:
    return [type(clause) for clause in parse(text).parts[0].clauses]


def returned(text: str) -> list[tuple[str, bool]]:
    clause = parse(text).parts[0].clauses[-1]
    assert isinstance(clause, Return)
    return [(item.name, item.aliased) for item in clause.projection.items]


def test_clauses_follow_each_other():
    text = "MATCH (a) OPTIONAL MATCH (b) WITH a WHERE a.x UNWIND [1] AS y CALL db.labels() YIELD label RETURN *"
    assert clauses(text) == [Match, Match, With, Unwind, CallProcedure, Return]


def test_keywords_in_any_case_and_a_trailing_semicolon():
    assert clauses("mAtCh (n) ReTuRn n ; // done") == [Match, Return]


def test_columns_are_named_by_alias_or_by_the_text_as_written():
    text = "MATCH (n) RETURN aVg(    n.aGe     ), n . x + 1 AS y, (n:Foo), `odd name`, n.order AS order"
    assert returned(text) == [
        ("aVg(    n.aGe     )", False),
        ("y", True),
        ("(n:Foo)", False),
        ("odd name", False),
        ("order", True),
    ]


def test_the_parts_of_a_projection():
    clause = (
        parse("MATCH (n) RETURN DISTINCT *, 1 AS x ORDER BY n.a DESC, n.b ASC, n.c SKIP 2 LIMIT $l").parts[0].clauses[1]
    )
    assert isinstance(clause, Return)
    projection = clause.projection
    assert projection.star
    assert projection.distinct
    assert [item.descending for item in projection.order] == [True, False, False]
    assert projection.skip is not None
    assert projection.limit is not None
    assert parse("RETURN 1 AS x OFFSET 2") == parse("RETURN 1 AS x SKIP 2")


def test_modes_union_and_format():
    query = parse("EXPLAIN RETURN 1 AS x UNION ALL RETURN 2 AS x FORMAT CSV")
    assert query.mode == "explain"
    assert query.union_all == (True,)
    assert query.csv
    assert parse("PROFILE RETURN 1").mode == "profile"
    assert parse("RETURN 1 AS x UNION RETURN 2 AS x").union_all == (False,)


def test_calls():
    call = parse("CALL db.labels").parts[0].clauses[0]
    assert call == CallProcedure("db.labels", None, None, False, None)
    call = parse("CALL a.b(1) YIELD x AS y, z WHERE y > 1 RETURN y").parts[0].clauses[0]
    assert isinstance(call, CallProcedure)
    assert call.yields == (("x", "y"), ("z", "z"))
    assert call.where is not None
    assert parse("CALL a.b() YIELD *").parts[0].clauses[0] == CallProcedure("a.b", (), None, True, None)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (n)",
        "MERGE (n)",
        "MATCH (n) SET n.x = 1",
        "MATCH (n) DELETE n",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n) REMOVE n.x",
        "FOREACH (x IN [1] | SET n.x = 1)",
        "LOAD CSV FROM 'x' AS r RETURN r",
        "DROP INDEX i",
        "INSERT (n)",
        "MATCH (n) WHERE EXISTS { MATCH (n) SET n.x = 1 } RETURN n",
    ],
)
def test_statements_that_write_say_how_notes_are_changed(text):
    error = refusal(text)
    assert isinstance(error, ReadOnlyError)
    assert "edit the files" in error.reason


@pytest.mark.parametrize(
    "text",
    [
        "SHOW DATABASES",
        "MATCH (n) OPTIONAL CALL db.labels() YIELD label RETURN n",
        "MATCH (n) FILTER n.x RETURN n",
        "MATCH (n) RETURN n ORDER BY n.x NULLS LAST",
        "MATCH (n) USING INDEX n:A(x) RETURN n",
    ],
)
def test_right_cypher_that_is_not_run_is_named_so(text):
    assert isinstance(refusal(text), UnsupportedError)


@pytest.mark.parametrize(
    ("text", "word", "right"),
    [
        ("MATCH (n) RETRUN n", "RETRUN", "RETURN"),
        ("MACTH (n) RETURN n", "MACTH", "MATCH"),
        ("MATCH (n) WHER n.x RETURN n", "WHER", "WHERE"),
        ("MATCH (n) WHERE n.x ADN n.y RETURN n", "ADN", "AND"),
        ("MATCH (n) RETURN n LIMT 5", "LIMT", "LIMIT"),
        ("MATCH (n) RETURN n.x ODER BY n.x", "ODER", "ORDER"),
        ("MATCH (n) RETURN n.x ORDER BY n.x DSC", "DSC", "DESC"),
        ("MATCH (n) UNWID [1] AS x RETURN x", "UNWID", "UNWIND"),
        ("OPTINAL MATCH (n) RETURN n", "OPTINAL", "OPTIONAL"),
    ],
)
def test_a_mistyped_keyword_is_answered_with_the_nearest(text, word, right):
    error = refusal(text)
    assert text[error.start : error.end] == word
    assert error.suggestion == right
    assert f"Did you mean {right}?" in str(error)
    assert "^" * len(word) in str(error)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("  // nothing\n ;", "empty"),
        ("SELECT n FROM notes", "MATCH (n:Label)"),
        ("MATCH (n) RETURN n.x, count(*) GROUP BY n.x", "implicit"),
        ("MATCH (n) HAVING n.x RETURN n", "WITH key"),
        ("hello", "A query starts with"),
        ("MATCH (n)", "must end with RETURN"),
        ("MATCH (n) WITH n", "must end with RETURN"),
        ("MATCH (n) RETURN n; MATCH (m) RETURN m", "One statement"),
        ("MATCH (n) RETURN n WHERE n.x", "RETURN ends the query"),
        ("MATCH (n) RETURN n MATCH (m) RETURN m", "RETURN ends the query"),
        ("MATCH (n) RETURN n LIMIT 1 SKIP 2", "The order is"),
        ("MATCH (n) RETURN n LIMIT 1 ORDER BY n.x", "The order is"),
        ("MATCH (n) LIMIT 5 RETURN n", "belongs to WITH or RETURN"),
        ("MATCH (n) WHERE n.x WHERE n.y RETURN n", "join the conditions with AND"),
        ("UNWIND [1] AS x WHERE x > 0 RETURN x", "WHERE belongs to"),
        ("MATCH (n) RETURN n ORDER n.x", "BY"),
        ("MATCH (n) RETURN n.x x", "n.x AS x"),
        ("MATCH (n) RETURN n.x AS 'x'", "AS `x`"),
        ("MATCH (n) RETURN n AS RETURN", "column name is expected"),
        ("MATCH (n) RETURN n, *", "The star comes first"),
        ("UNWIND [1] RETURN 1", "AS name"),
        ("OPTIONAL (n) RETURN n", "MATCH"),
        ("RETURN 1 AS x UNION RETURN 2 AS x UNION ALL RETURN 3 AS x", "mixed"),
        ("CALL a.b YIELD x RETURN x", "brackets"),
        ("CALL a.b() YIELD * RETURN 1", "YIELD"),
        ("RETURN 1 FORMAT JSON", "FORMAT CSV"),
        ("RETURN", "an expression is expected"),
        ("MATCH (` n`) RETURN 1", "start with a space"),
    ],
)
def test_wrong_queries_are_explained(text, part):
    error = refusal(text)
    assert isinstance(error, QuerySyntaxError)
    assert part in error.reason


@pytest.mark.parametrize("word", ["match", "where", "Return", "end", "in"])
def test_a_reserved_word_as_a_variable_asks_for_backticks(word):
    text = f"MATCH (n) RETURN n ORDER BY {word}"
    assert parse(text.replace(word, f"`{word}`"))
    assert word in refusal(text).reason


def test_every_error_has_a_place_in_the_text():
    error = refusal("MATCH (n)\nWHERE n.x =\nRETURN n")
    assert error.data["line"] == 3
    assert error.data["column"] == 1
    assert "RETURN n\n  ^^^^^^" in str(error)
