"""What the advice of an error is worth: no names that only look alike, and the Cypher for what others spell."""

import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.errors import BindError, EvaluationError, QueryError, QuerySyntaxError, ReadOnlyError


@pytest.fixture(scope="module")
def graph(make_graph):
    return make_graph([(("N",), {"x": 1, "t": "a"}), (("N",), {"x": "b"})], [(0, "LINKS_TO", 1, {})])


def refused(graph, text, parameters=None):
    with pytest.raises(QueryError) as caught:
        assert run_query(graph, text, parameters).rows is None
    return caught.value


@pytest.mark.parametrize(
    ("call", "suggestion"),
    [
        ("sise([1])", "size"),
        ("tolwer('a')", "toLower"),
        ("cuont(1)", "count"),
        ("lenght('a')", "length"),
        ("len('a')", "size"),
        ("first([1])", "head"),
        ("today()", "date"),
        ("ord('a')", None),
        ("foo.bar(1)", None),
    ],
)
def test_a_wrong_function_name_gets_the_right_one_or_none(graph, call, suggestion):
    error = refused(graph, f"RETURN {call}")
    assert (type(error), error.suggestion) == (BindError, suggestion)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("concat('a', 'b')", "joined with +"),
        ("sort([2, 1])", "ORDER BY"),
        ("year(date())", "n.date.year"),
        ("any([1])", "any(x IN list WHERE condition)"),
        ("if(true, 1, 2)", "CASE WHEN"),
        ("apoc.text.join(['a'], ',')", "reduce("),
        ("contains('a', 'b')", "CONTAINS"),
        ("regexp_replace('a', 'b', 'c')", "=~"),
        ("median(1)", "percentileCont"),
    ],
)
def test_functions_of_other_languages_get_the_cypher_for_them(graph, call, advice):
    error = refused(graph, f"RETURN {call}")
    assert isinstance(error, BindError)
    assert error.suggestion is None
    assert advice in error.reason


@pytest.mark.parametrize(
    "text",
    [
        "CALL { CREATE (n) } RETURN 1",
        "CALL { MATCH (n) SET n.x = 1 RETURN n } RETURN n",
        "MATCH (n) CALL (n) { DETACH DELETE n } RETURN 1",
        "CALL apoc.create.node(['X'], {})",
        "CALL db.createLabel('x')",
        "CALL apoc.refactor.rename.label('a', 'b')",
        "TRUNCATE n",
        "RETURN EXISTS { CREATE (n) }",
        "MATCH (n) FOREACH (x IN [1] | SET n.x = x)",
    ],
)
def test_a_write_in_any_disguise_is_refused_as_one(graph, text):
    error = refused(graph, text)
    assert isinstance(error, ReadOnlyError)
    assert "edit the files" in error.reason


def test_a_subquery_that_only_reads_is_not_called_a_write(graph):
    assert run_query(graph, "CALL { MATCH (n:SET) RETURN n.set AS s } RETURN s").rows == []


@pytest.mark.parametrize("text", ["MATCH (n:$label) RETURN n", "MATCH ()-[r:$type]->() RETURN r"])
def test_a_parameter_as_a_name_gets_the_way_to_test_it(graph, text):
    error = refused(graph, text, {"label": "N", "type": "LINKS_TO"})
    assert "$label IN labels(n) or type(r) = $type" in error.reason


@pytest.mark.parametrize("word", ["STARTSWITH", "starts_with", "ENDSWITH"])
def test_operators_of_two_words_are_written_apart(graph, word):
    assert "in two words" in refused(graph, f"MATCH (n) WHERE n.t {word} 'a' RETURN n").reason


@pytest.mark.parametrize("call", ["sum(n.x)", "avg(n.x)", "stDev(n.x)", "percentileCont(n.x, 2)"])
def test_an_aggregate_that_fails_says_where(graph, call):
    text = f"MATCH (n) RETURN {call}"
    error = refused(graph, text)
    assert isinstance(error, EvaluationError)
    assert text[error.start : error.end] == call


@pytest.mark.parametrize("text", ["RETURN '\ud800'", "RETURN 1 AS `\ud800`"])
def test_half_a_character_in_a_query_is_shown_as_a_mark(graph, text):
    error = refused(graph, text)
    assert isinstance(error, QuerySyntaxError)
    assert str(error).encode()


@pytest.mark.parametrize("value", ["\ud800", ["\ud800"], {"\ud800": 1}])
def test_half_a_character_in_a_parameter_is_refused(graph, value):
    assert "surrogate" in refused(graph, "MATCH (n {t: $v}) RETURN n", {"v": value}).reason


def test_a_parameter_that_holds_itself_is_refused(graph):
    value = []
    value.append(value)
    assert "nested too deep" in refused(graph, "RETURN $v", {"v": value}).reason
