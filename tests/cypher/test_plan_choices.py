"""Where a pattern starts and how it grows."""

import pytest

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.explain import plan_text
from vaultgraph.cypher.operators import ScanNodes
from vaultgraph.cypher.planner import plan_query
from vaultgraph.cypher.plans import walk
from vaultgraph.graph.facts import Facts


@pytest.fixture(scope="module")
def graph(make_graph):
    """Two folders, a hundred notes; every note is in a folder, notes link in a ring, one tag on three notes."""
    nodes = [(["Folder"], {}) for _ in range(2)] + [(["Note"], {}) for _ in range(100)] + [(["Tag"], {})]
    relationships = [(2 + number, "IN", number % 2, {}) for number in range(100)]
    relationships += [(2 + number, "LINKS", 2 + (number + 1) % 100, {}) for number in range(100)]
    relationships += [(2 + number, "TAG", 102, {}) for number in range(3)]
    return make_graph(nodes, relationships)


def plan_of(graph, query):
    bound = bind(parse(query), query, None, {})
    return plan_query(bound.query, bound.columns, Statistics(Facts(graph)), {})


def first_node(graph, query):
    return next(part.variable for part in walk(plan_of(graph, query)) if isinstance(part, ScanNodes))


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("MATCH (n:Note)-[:TAG]->(t:Tag) RETURN n", "t"),
        ("MATCH (f:Folder)<-[:IN]-(n:Note)-[:TAG]->(t:Tag) RETURN f", "t"),
        ("MATCH (a:Note {path: 'x'})-[:LINKS]->(b:Note) RETURN a", "a"),
        ("MATCH (a:Note)-[:LINKS]->(b:Note) WHERE b.path = 'x' RETURN a", "b"),
        ("MATCH (a:Note)-[:LINKS]->(b:Note)-[:LINKS]->(c:Note {title: 'x'}) RETURN a", "c"),
    ],
)
def test_a_pattern_starts_where_it_is_narrowest(graph, query, start):
    assert first_node(graph, query) == start


def test_a_pattern_grows_from_what_is_known(graph):
    text = plan_text(plan_of(graph, "MATCH (n:Note) WITH n LIMIT 1 MATCH (t:Tag)<-[:TAG]-(n) RETURN t"))
    assert text.splitlines()[1] == "  Expand (n)-[r1:TAG]->(t:Tag)"


def test_a_hop_between_known_nodes_is_taken_before_new_ones(graph):
    query = "MATCH (n:Note), (t:Tag) WITH n, t MATCH (n)-[:LINKS]->(m), (n)-[:TAG]->(t) RETURN m"
    lines = [line.strip() for line in plan_text(plan_of(graph, query)).splitlines()]
    assert lines[1:3] == ["Expand (n)-[r1:LINKS]->(m)", "Expand (n)-[r2:TAG]->(t) into"]


def test_only_relationships_that_can_be_the_same_are_compared(graph):
    text = plan_text(plan_of(graph, "MATCH (:Tag)<-[a:TAG]-(n)-[b:IN]->(f)<-[c:IN]-(m) RETURN m"))
    assert text.splitlines()[1].strip() == "Expand (f)<-[c:IN]-(m) unlike b"


def test_what_is_read_by_name_is_cut_before_it_is_projected(graph):
    lines = [line.strip() for line in plan_text(plan_of(graph, "MATCH (n:Note) RETURN n.body LIMIT 2")).splitlines()]
    assert lines == ["Project n.body AS n.body", "Limit 2", "ScanNodes (n:Note)"]
