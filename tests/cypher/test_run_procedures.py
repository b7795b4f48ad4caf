"""CALL of procedures with arguments: how they are passed, checked and called, and what those of a graph answer."""

from datetime import date

import polars as pl
import pytest

from vaultgraph.cypher.procedures import fixed_rows, procedure
from vaultgraph.cypher.query import run_query
from vaultgraph.errors import BindError, EvaluationError
from vaultgraph.graph.graph import Graph

EMPTY = Graph(0, (), {}, {})
CITIES = fixed_rows(
    "test.city(name :: STRING?, id :: INTEGER?) :: (city :: STRING?, code :: INTEGER?)",
    [("Ann", 1, "Berlin", 49), ("Ann", 1, "Bonn", 49), ("Bob", 2, "Paris", 33), (None, 3, "Rome", 39)],
)
NOTHING = fixed_rows("test.nothing() :: ()", [])
HALF = procedure("test.half(x :: FLOAT) :: (y :: FLOAT)", lambda _graph, _tables, x: [(x / 2,)])
PROCEDURES = {one.name.lower(): one for one in (CITIES, NOTHING, HALF)}


def answer(text, parameters=None):
    return run_query(EMPTY, text, parameters, procedures=PROCEDURES)


def test_arguments_choose_the_rows():
    result = answer("CALL test.city('Ann', 1)")
    assert result.columns == ("city", "code")
    assert result.rows == [("Berlin", 49), ("Bonn", 49)]


def test_null_is_an_argument_like_any_other():
    assert answer("CALL test.city(null, 3) YIELD city RETURN city").rows == [("Rome",)]


def test_the_rows_of_a_call_stay_beside_the_row_they_were_made_for():
    text = "UNWIND [['Bob', 2], ['Eve', 9], ['Ann', 1], ['Bob', 2]] AS one CALL test.city(one[0], one[1]) YIELD city "
    assert answer(text + "RETURN one[0] AS name, city").rows == [
        ("Bob", "Paris"),
        ("Ann", "Berlin"),
        ("Ann", "Bonn"),
        ("Bob", "Paris"),
    ]


def test_columns_are_renamed_and_filtered():
    assert answer("CALL test.city('Ann', 1) YIELD city AS c WHERE c > 'Bo' RETURN c").rows == [("Bonn",)]


def test_parameters_are_the_arguments_of_a_call_without_brackets():
    assert answer("CALL test.city", {"name": "Bob", "id": 2}).rows == [("Paris", 33)]


def test_a_procedure_is_called_once_for_equal_arguments():
    calls = []

    def rows(_graph, _tables, x):
        calls.append(x)
        return pl.DataFrame({"y": [x]})

    made = {"test.seen": procedure("test.seen(x :: INTEGER) :: (y :: INTEGER)", rows)}
    result = run_query(EMPTY, "UNWIND [1, 2, 1, 1] AS x CALL test.seen(x) YIELD y RETURN y", procedures=made)
    assert result.rows == [(1,), (2,), (1,), (1,)]
    assert calls == [1, 2]


def test_an_integer_is_taken_as_a_float():
    assert answer("CALL test.half(3)").rows == [(1.5,)]


def test_a_procedure_without_columns_keeps_the_rows():
    assert answer("UNWIND [1, 2] AS x CALL test.nothing() RETURN x").rows == [(1,), (2,)]
    assert answer("CALL test.nothing").rows == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CALL test.city('Ann')", "takes 2 arguments, not 1"),
        ("CALL test.half(1, 2)", "takes 1 argument, not 2"),
        ("CALL test.half('x')", "cannot take a string as x"),
        ("CALL test.half", "$x is missing"),
        ("CALL test.half(1) RETURN y", "names its columns"),
        ("CALL test.half(1) YIELD z RETURN z", "has no column 'z'"),
        ("CALL test.half(1) YIELD y AS a, y AS a RETURN a", "already defined"),
        ("MATCH (n) CALL test.half(count(n)) YIELD y RETURN y", "count is an aggregate"),
        ("CALL test.hall(1)", "no procedure 'test.hall'"),
    ],
)
def test_wrong_calls_are_explained(text, reason):
    with pytest.raises(BindError) as caught:
        answer(text)
    assert reason in caught.value.reason


def test_the_type_of_an_argument_is_checked_when_it_is_known():
    with pytest.raises(EvaluationError) as caught:
        answer("UNWIND [1, 'x'] AS x CALL test.half(x) YIELD y RETURN y")
    assert "cannot take STRING as x" in caught.value.reason
    assert caught.value.text[caught.value.start : caught.value.end] == "x"


def test_the_properties_of_nodes_are_listed_by_their_labels(make_graph):
    graph = make_graph([(["A"], {"x": 1}), (["A"], {"x": "s", "d": date(2026, 1, 2)}), (["B"], {})], [])
    assert run_query(graph, "CALL db.schema.nodeTypeProperties()").rows == [
        (":`A`", ["A"], "d", ["DATE"], False),
        (":`A`", ["A"], "x", ["INTEGER", "STRING"], True),
        (":`B`", ["B"], None, None, None),
    ]


def test_the_properties_of_relationships_are_listed_by_type(make_graph):
    graph = make_graph([(["A"], {})] * 2, [(0, "T", 1, {"w": 1.5}), (1, "T", 0, {}), (0, "U", 0, {})])
    assert run_query(graph, "CALL db.schema.relTypeProperties()").rows == [
        (":`T`", "w", ["FLOAT"], False),
        (":`U`", None, None, None),
    ]


@pytest.fixture
def notes(make_graph):
    """B links to A and to nothing there is, A to itself; a folder holds them all."""
    nodes = [
        (["Note"], {"path": "A.md", "title": "A"}),
        (["Note"], {"path": "B.md", "title": "B"}),
        (["Concept"], {"title": "Gone", "_provisional": True}),
        (["Folder"], {"path": "f"}),
        (["Image"], {"title": "x.png", "missing": True}),
    ]
    links = [(0, "EMBEDS", 4, {"line": 2})]
    links += [(1, "LINKS_TO", 0, {"line": 3}), (1, "LINKS_TO", 2, {"line": 4}), (0, "LINKS_TO", 0, {"line": 1})]
    return make_graph(nodes, [*links, (3, "CONTAINS", 1, {})])


def test_orphans_are_the_notes_that_nothing_else_links_to(notes):
    assert run_query(notes, "CALL vault.orphans()").rows == [("B.md", "B")]


def test_unresolved_links_are_those_to_what_is_not_there(notes):
    assert run_query(notes, "CALL vault.unresolved()").rows == [("Gone", "B.md", 4), ("x.png", "A.md", 2)]


def test_an_outline_is_the_headings_of_one_note():
    headings = pl.DataFrame({"path": ["A.md", "B.md"], "line": [1, 2], "level": [1, 2], "text": ["a", "b"]})
    tables = {"vault.headings": lambda: headings}
    assert run_query(EMPTY, "CALL vault.outline('B.md')", tables=tables).rows == [(2, 2, "b")]
    assert run_query(EMPTY, "CALL vault.outline(null)", tables=tables).rows == []
