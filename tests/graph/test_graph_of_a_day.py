"""A graph as of a day: what holds, what its relationships lose with it, and values that are no dates."""

from datetime import UTC, date, datetime

import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.graph.graph import label_counts
from vaultgraph.graph.schema import schema_of
from vaultgraph.graph.valid_time import graph_at
from vaultgraph.profile.settings import Interval, ValidTime

DECLARED = ValidTime(labels={"Job": Interval()}, types={"KNOWS": Interval("since", "until")})
NODES = [
    (("Person",), {"name": "Ada"}),
    (("Job",), {"name": "baker", "valid_from": date(2020, 1, 1), "valid_to": date(2021, 12, 31)}),
    (("Job",), {"name": "sailor", "valid_from": date(2022, 1, 1)}),
    (("Job",), {"name": "friend", "valid_to": date(2022, 6, 30)}),
    (("Person",), {"name": "Bo", "valid_to": date(1900, 1, 1)}),
]
RELATIONSHIPS = [
    (0, "HAS", 1, {"rank": 1}),
    (0, "HAS", 2, {"rank": 2}),
    (0, "HAS", 3, {"rank": 3}),
    (0, "KNOWS", 4, {"since": date(2021, 1, 1), "until": date(2021, 12, 31), "how": "well"}),
]


@pytest.fixture
def jobs_on(make_graph):
    graph = make_graph(NODES, RELATIONSHIPS)

    def run(day: date) -> list[tuple[object, ...]]:
        held = graph_at(graph, DECLARED, day).graph
        query = "MATCH (p:Person {name: 'Ada'})-[r:HAS]->(j:Job) RETURN j.name, r.rank ORDER BY r.rank"
        return [tuple(row) for row in run_query(held, query, schema=schema_of(held)).rows]

    return run


@pytest.mark.parametrize(
    ("day", "jobs"),
    [
        (date(2019, 12, 31), [("friend", 3)]),
        (date(2020, 1, 1), [("baker", 1), ("friend", 3)]),
        (date(2021, 12, 31), [("baker", 1), ("friend", 3)]),
        (date(2022, 1, 1), [("sailor", 2), ("friend", 3)]),
        (date(2022, 7, 1), [("sailor", 2)]),
    ],
)
def test_both_ends_belong_to_the_interval_and_a_missing_one_is_open(jobs_on, day, jobs):
    assert jobs_on(day) == jobs


def test_relationships_have_intervals_of_their_own(make_graph):
    graph = make_graph(NODES, RELATIONSHIPS)
    query = "MATCH (a)-[r:KNOWS]->(b) RETURN a.name, r.how, b.name"
    assert run_query(graph_at(graph, DECLARED, date(2021, 5, 1)).graph, query).rows == [("Ada", "well", "Bo")]
    assert run_query(graph_at(graph, DECLARED, date(2022, 5, 1)).graph, query).rows == []


def test_labels_and_types_stay_known_where_nothing_of_them_holds(make_graph):
    held = graph_at(make_graph(NODES[:2], RELATIONSHIPS[:1]), DECLARED, date(1999, 1, 1)).graph
    schema = schema_of(held)
    assert label_counts(held) == {"Person": 1, "Job": 0}
    assert schema.relationship_types == {"HAS": 0}
    result = run_query(held, "MATCH (p:Person)-[:HAS]->(j:Job) RETURN p.name", schema=schema)
    assert (result.rows, result.warnings) == ([], ())
    assert run_query(held, "MATCH (n) RETURN count(n) AS n").rows == [(1,)]
    assert run_query(held, "MATCH (n:Person) RETURN labels(n) AS l").rows == [(["Person"],)]


def test_a_graph_in_which_everything_holds_is_the_graph_itself(make_graph):
    graph = make_graph(NODES[:1], [])
    assert graph_at(graph, DECLARED, date(2020, 1, 1)).graph is graph


def test_times_count_by_their_day_and_texts_that_are_dates_as_such(make_graph):
    nodes = [
        (("Job",), {"name": "a", "valid_from": datetime(2020, 1, 1, 18, 0)}),
        (("Gig", "Job"), {"name": "b", "valid_from": "2020-01-01"}),
        (("Trip", "Job"), {"name": "c", "valid_from": datetime(2020, 1, 1, 18, 0, tzinfo=UTC).date()}),
    ]
    graph = make_graph(nodes, [])
    names = "MATCH (j:Job) RETURN j.name ORDER BY j.name"
    assert run_query(graph_at(graph, DECLARED, date(2020, 1, 1)).graph, names).rows == [("a",), ("b",), ("c",)]
    assert run_query(graph_at(graph, DECLARED, date(2019, 12, 31)).graph, names).rows == []


def test_ends_that_are_no_dates_are_open_and_counted(make_graph):
    nodes = [
        (("Job",), {"name": "a", "valid_from": "soon", "valid_to": 7}),
        (("Job",), {"name": "b", "valid_from": date(2020, 1, 1), "valid_to": date(2020, 12, 31)}),
        (("Task", "Job"), {"name": "c", "valid_from": 12}),
    ]
    graph = make_graph(nodes, [])
    held = graph_at(graph, DECLARED, date(1999, 1, 1))
    assert run_query(held.graph, "MATCH (j:Job) RETURN j.name ORDER BY j.name").rows == [("a",), ("c",)]
    assert held.undated == 3


def test_a_node_must_hold_by_each_of_its_labels(make_graph):
    declared = ValidTime(labels={"A": Interval("a", "b"), "B": Interval("c", "d")})
    graph = make_graph([(("A", "B"), {"a": date(2000, 1, 1), "d": date(2001, 1, 1)})], [])
    counts = [graph_at(graph, declared, date(year, 6, 1)).graph.node_count for year in (1999, 2000, 2001)]
    assert counts == [0, 1, 0]
