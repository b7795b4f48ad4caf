"""A graph from data frames answers queries as one from notes does."""

from datetime import date, datetime

import polars as pl
import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.errors import BuildError
from vaultgraph.graph.graph import Graph

PEOPLE = pl.DataFrame(
    {
        "id": [3, 1, 2],
        "name": ["Cy", "Ada", None],
        "born": [date(1990, 1, 2), None, date(2001, 5, 6)],
        "tags": [["a"], [], None],
    }
)
CITIES = pl.DataFrame({"id": ["X", "Y"], "size": pl.Series([5, 7], dtype=pl.UInt8)})
KNOWS = pl.DataFrame({"to": [1, 2, 3], "from": [3, 3, 1], "since": [2001, None, 2003]})
LIVES = pl.DataFrame({"from": [3, 1], "to": ["Y", "X"]})
RELATIONSHIPS = [("KNOWS", KNOWS, "Person", "Person"), ("LIVES_IN", LIVES, "Person", "City")]


@pytest.fixture
def graph() -> Graph:
    return Graph.from_tables({"Person": PEOPLE, "City": CITIES}, RELATIONSHIPS)


def test_columns_are_properties_and_labels_are_frames(graph: Graph) -> None:
    result = run_query(graph, "MATCH (p:Person) RETURN p.id, p.name, p.born, p.tags ORDER BY p.id")
    assert result.rows == [
        (1, "Ada", None, []),
        (2, None, date(2001, 5, 6), None),
        (3, "Cy", date(1990, 1, 2), ["a"]),
    ]
    assert run_query(graph, "MATCH (c:City) RETURN c.size AS size ORDER BY size").rows == [(5,), (7,)]


def test_relationships_lead_from_key_to_key_and_keep_their_properties(graph: Graph) -> None:
    known = run_query(graph, "MATCH (a)-[r:KNOWS]->(b) RETURN a.id, r.since, b.id ORDER BY a.id, b.id")
    assert known.rows == [(1, 2003, 3), (3, 2001, 1), (3, None, 2)]
    lives = run_query(graph, "MATCH (a)-[:LIVES_IN]->(c) RETURN a.name, c.id ORDER BY c.id")
    assert lives.rows == [("Ada", "X"), ("Cy", "Y")]
    assert graph.relationship_count == 5


def test_one_type_can_join_several_pairs_of_labels() -> None:
    likes = pl.DataFrame({"from": [1], "to": ["X"], "much": [True]})
    also = pl.DataFrame({"from": [2], "to": [3]})
    nodes = {"Person": PEOPLE, "City": CITIES}
    graph = Graph.from_tables(nodes, [("LIKES", likes, "Person", "City"), ("LIKES", also, "Person", "Person")])
    rows = run_query(graph, "MATCH (a)-[r:LIKES]->(b) RETURN a.id AS a, r.much, b.id ORDER BY a").rows
    assert rows == [(1, True, "X"), (2, None, 3)]


def test_arrow_tables_and_other_keys_are_taken() -> None:
    nodes = {"City": CITIES.rename({"id": "code"}).to_arrow()}
    graph = Graph.from_tables(nodes, key="code")
    assert run_query(graph, "MATCH (c {code: 'Y'}) RETURN c.size").rows == [(7,)]


def test_times_keep_microseconds_and_zones_become_utc() -> None:
    moment = pl.Series("at", [datetime(2031, 5, 1, 9, 30)], dtype=pl.Datetime("ns", "UTC"))
    graph = Graph.from_tables({"T": pl.DataFrame([pl.Series("id", [1]), moment])})
    assert graph.node_columns["at"].segments[0].series.dtype == pl.Datetime("us", "UTC")


def test_no_nodes_at_all_is_a_graph() -> None:
    assert run_query(Graph.from_tables({}), "MATCH (n) RETURN count(*)").rows == [(0,)]


@pytest.mark.parametrize(
    ("nodes", "relationships", "said"),
    [
        ({"P": PEOPLE.drop("id")}, [], "P: has no column 'id'"),
        ({"P": pl.DataFrame({"id": [1, None]})}, [], "P: 1 rows have no 'id'"),
        ({"P": pl.DataFrame({"id": [1, 1, 2]})}, [], "'id' is there twice: 1."),
        ({"P": pl.DataFrame({"id": [1], "x": [{"a": 1}]})}, [], "the column 'x' is Struct"),
        ({"P": pl.DataFrame({"id": pl.Series([2**63], dtype=pl.UInt64)})}, [], "does not fit Int64"),
        ({"P": 5}, [], "P: is no table"),
        ({"P": PEOPLE}, [("R", KNOWS, "P", "Q")], "no nodes labelled 'Q'; there are: P"),
        ({"P": PEOPLE}, [("R", KNOWS.drop("to"), "P", "P")], "R: has no column 'to'"),
        ({"P": PEOPLE}, [("R", pl.DataFrame({"from": [1], "to": [9]}), "P", "P")], "R.to: names no node of P: 9."),
        ({"P": PEOPLE}, [("R", pl.DataFrame({"from": [1], "to": ["1"]}), "P", "P")], "R.to: holds String"),
    ],
)
def test_what_cannot_be_a_graph_is_refused_with_the_reason(nodes, relationships, said: str) -> None:
    with pytest.raises(BuildError, match=said.replace("(", r"\(")):
        Graph.from_tables(nodes, relationships)
