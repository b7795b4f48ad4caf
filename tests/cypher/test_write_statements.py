"""Statements that write: what they answer, and what they leave behind."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.procedures import fixed_rows
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.values import Node
from vaultgraph.cypher.write_query import run_write
from vaultgraph.errors import BindError, BudgetError, EvaluationError, QueryError, QuerySyntaxError, UnsupportedError
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.mutable import MutableGraph


@pytest.fixture
def graph() -> MutableGraph:
    """Two people who know each other, and a city nobody lives in."""
    made = MutableGraph()
    run_write(made, "CREATE (a:Person {name: 'Ada', n: 1})-[:KNOWS {since: 1840}]->(:Person {name: 'Bo', n: 2})")
    run_write(made, "CREATE (:City {name: 'Rome'})")
    return made


def rows(graph: MutableGraph, text: str, **parameters: object) -> list[tuple[object, ...]]:
    return run_write(graph, text, parameters).rows


def names(graph: MutableGraph) -> list[object]:
    return [name for (name,) in rows(graph, "MATCH (n) RETURN n.name ORDER BY n.name")]


def test_what_is_created_is_there_for_the_next_clause_and_statement(graph):
    answer = rows(graph, "CREATE (c:Person {name: 'Cy'})-[r:KNOWS]->(d) RETURN c, type(r), labels(d)")
    assert [(node.labels, node.properties, *rest) for (node, *rest) in answer if isinstance(node, Node)] == [
        (("Person",), {"name": "Cy"}, "KNOWS", [])
    ]
    assert rows(graph, "MATCH (:Person {name: 'Cy'})-[:KNOWS]->(d) RETURN count(d)") == [(1,)]


def test_a_statement_without_return_answers_nothing(graph):
    result = run_write(graph, "MATCH (n) CREATE (:Copy)")
    assert (result.columns, result.rows, len(graph.nodes)) == ((), [], 6)


def test_every_row_creates_for_itself_and_earlier_clauses_see_nothing_of_it(graph):
    assert rows(graph, "MATCH (p:Person) CREATE (:Person {name: 'like ' + p.name}) RETURN count(*)") == [(2,)]
    assert names(graph) == ["Ada", "Bo", "Rome", "like Ada", "like Bo"]


def test_hundreds_of_properties_can_be_set_and_removed_by_one_statement(graph):
    several = ", ".join(f"c.p{at} = {at}" for at in range(300))
    assert rows(graph, f"MATCH (c:City) SET {several} RETURN c.p299, size(keys(c))") == [(299, 301)]
    clauses = " ".join(f"SET c.p{at} = -1" for at in range(150))
    assert rows(graph, f"MATCH (c:City) {clauses} RETURN c.p0, c.p299") == [(-1, 299)]
    gone = ", ".join(f"c.p{at}" for at in range(300))
    assert rows(graph, f"MATCH (c:City) REMOVE {gone} RETURN keys(c)") == [(["name"],)]


def test_a_path_that_is_created_can_be_returned(graph):
    assert rows(graph, "CREATE p = (:X)<-[:R]-(:Y)-[:S]->(:Z) RETURN length(p), [n IN nodes(p) | labels(n)[0]]") == [
        (2, ["X", "Y", "Z"])
    ]


def test_properties_come_from_a_parameter_or_from_what_was_just_created(graph):
    made = rows(
        graph,
        "CREATE (a:T $all), (b:T {twice: a.n * 2})-[:R {n: a.n}]->(a) RETURN a.n, b.twice",
        all={"n": 4, "x": None},
    )
    assert made == [(4, 8)]
    assert rows(graph, "MATCH (:T)-[r]->(t) RETURN r.n, keys(t)") == [(4, ["n"])]


def test_merge_makes_once_what_it_then_finds(graph):
    text = """
        UNWIND [1, 1, 2, 1.0] AS v MERGE (m:M {v: v})
        ON CREATE SET m.times = 1 ON MATCH SET m.times = m.times + 1
        RETURN m.v, m.times
    """
    assert rows(graph, text) == [(1, 3), (1, 3), (2, 1), (1, 3)]
    assert rows(graph, "MATCH (m:M) RETURN count(*)") == [(2,)]


def test_merge_gives_a_row_for_every_match(graph):
    rows(graph, "CREATE (:City {name: 'Oslo'})")
    assert rows(graph, "MATCH (p:Person) MERGE (c:City) RETURN count(*)") == [(4,)]


def test_merge_sees_what_its_own_changes_make_of_the_nodes_before(graph):
    """The value that is looked for is set by the clause itself: the second row finds what the first one renamed."""
    text = "UNWIND ['Rome', 'Roma'] AS name MERGE (c:City {name: name}) ON MATCH SET c.name = 'Roma' RETURN count(*)"
    assert rows(graph, text) == [(2,)]
    assert rows(graph, "MATCH (c:City) RETURN c.name") == [("Roma",)]


def test_merge_of_a_path_finds_all_of_it_or_makes_all_that_is_not_known(graph):
    text = "MATCH (a:Person {name: 'Ada'}) MERGE (a)-[:KNOWS]->(b:Person {name: $name})-[:IN]->(c:City) RETURN count(*)"
    rows(graph, text, name="Bo")
    assert rows(graph, "MATCH (b:Person {name: 'Bo'}) RETURN count(*)") == [(2,)]
    before = len(graph.nodes)
    rows(graph, text, name="Bo")
    assert len(graph.nodes) == before


@pytest.mark.parametrize(
    ("pattern", "made"),
    [
        ("(a)-[:KNOWS]->(b)", 0),
        ("(b)<-[:KNOWS]-(a)", 0),
        ("(b)-[:KNOWS]-(a)", 0),
        ("(b)-[:KNOWS]->(a)", 1),
        ("(a)-[:KNOWS {since: 1840}]-(b)", 0),
        ("(a)-[:KNOWS {since: 1841}]-(b)", 1),
        ("(:Person)-[:KNOWS]->(b)", 0),
        ("(:City)-[:KNOWS]->(b)", 1),
        ("(a)-[:KNOWS]->(b)<-[:KNOWS]-(:Person)", 2),
    ],
)
def test_merge_follows_directions_and_takes_no_relationship_twice(graph, pattern, made):
    rows(graph, f"MATCH (a {{name: 'Ada'}}), (b {{name: 'Bo'}}) MERGE {pattern}")
    assert len(graph.relationships) == 1 + made


def test_set_sees_the_changes_of_the_rows_and_items_before(graph):
    assert (
        rows(graph, "UNWIND [1, 2, 3] AS i MATCH (a {name: 'Ada'}) SET a.n = a.n + i, a.m = a.n RETURN a.n, a.m")
        == [(7, 7)] * 3
    )


def test_set_takes_maps_and_whole_entities(graph):
    rows(graph, "MATCH (a {name: 'Ada'}), (b {name: 'Bo'}) SET b = a, b += {n: null, extra: [1, 2]}")
    assert rows(graph, "MATCH (b) WHERE b.extra = [1, 2] RETURN properties(b)") == [({"name": "Ada", "extra": [1, 2]},)]


def test_set_and_remove_leave_null_alone(graph):
    assert rows(graph, "OPTIONAL MATCH (x:Nobody) SET x.a = 1, x:L, x += {a: 1} REMOVE x.a, x:L RETURN x") == [(None,)]


def test_labels_are_given_and_taken(graph):
    assert rows(graph, "MATCH (c:City) SET c:Old:Big REMOVE c:City, c:Unknown RETURN labels(c)") == [(["Old", "Big"],)]
    assert rows(graph, "MATCH (c:City) RETURN count(c)") == [(0,)]


def test_expressions_of_writing_clauses_can_match_patterns(graph):
    text = "MATCH (p:Person) SET p.friends = COUNT { (p)--() }, p.known = EXISTS { (p)<--() } RETURN p.friends, p.known"
    assert rows(graph, text + " ORDER BY p.name") == [(1, False), (1, True)]
    assert rows(graph, "MATCH (c:City) CREATE (:Sum {n: COUNT { (:Person) }})") == []
    assert rows(graph, "MATCH (s:Sum) RETURN s.n") == [(2,)]


def test_delete_takes_relationships_before_nodes_whatever_the_order(graph):
    assert rows(graph, "MATCH (a)-[r]->(b) DELETE a, b, r RETURN count(*)") == [(1,)]
    assert names(graph) == ["Rome"]


def test_a_connected_node_is_deleted_only_with_its_relationships(graph):
    with pytest.raises(EvaluationError, match="DETACH DELETE"):
        rows(graph, "MATCH (a:Person) DELETE a")
    assert len(graph.nodes) == 3
    rows(graph, "MATCH (a:Person {name: 'Ada'}) DETACH DELETE a")
    assert (names(graph), len(graph.relationships)) == (["Bo", "Rome"], 0)


def test_relationships_may_be_deleted_after_their_nodes(graph):
    rows(graph, "MATCH (a:Person)-[r]->(b) DELETE a, b WITH r DELETE r")
    assert names(graph) == ["Rome"]


def test_foreach_writes_for_every_item_and_leaves_the_rows_alone(graph):
    text = """
        MATCH p = (:Person {name: 'Ada'})-->() FOREACH (n IN nodes(p) | SET n.seen = true)
        FOREACH (x IN [1, 2] | FOREACH (y IN [x, 10 * x] | CREATE (t:T {v: y}) MERGE (:S {v: x})-[:OF]->(t)))
        FOREACH (x IN null | CREATE (:Never)) RETURN count(*)
    """
    assert rows(graph, text) == [(1,)]
    assert rows(graph, "MATCH (n) WHERE n.seen RETURN count(*)") == [(2,)]
    found = rows(graph, "MATCH (s:S)-[:OF]->(t:T) RETURN s.v, t.v ORDER BY t.v")
    assert found == [(1, 1), (2, 2), (1, 10), (2, 20)]
    assert "Never" not in graph.labels


def test_paths_and_items_of_lists_are_deleted(graph):
    rows(graph, "MATCH p = (:Person)-->() DELETE p")
    assert names(graph) == ["Rome"]
    rows(graph, "MATCH (c:City) WITH {all: collect(c)} AS m DELETE m.all[0]")
    assert names(graph) == []


def test_what_was_deleted_can_be_counted_and_returned_but_not_read(graph):
    assert rows(graph, "MATCH ()-[r]->() DELETE r RETURN type(r), count(r)") == [("KNOWS", 1)]
    ((gone,),) = rows(graph, "MATCH (c:City) DELETE c RETURN c")
    assert isinstance(gone, Node)
    assert (gone.labels, gone.properties) == ((), {})
    for read in ("p.name", "labels(p)", "p:Person", "properties(p)", "keys(p)", "[x IN collect(p) | x.name]"):
        with pytest.raises(EvaluationError, match="deleted by this statement"):
            rows(graph, f"MATCH (p:Person) DETACH DELETE p RETURN {read}")
    for change in ("SET p.x = 1", "SET p:L", "REMOVE p.x", "CREATE (p)-[:R]->()", "MERGE (p)-[:R]->()"):
        with pytest.raises(EvaluationError, match="deleted by this statement"):
            rows(graph, f"MATCH (p:Person) DETACH DELETE p {change}")
    assert len(graph.nodes) == 2


def test_nothing_matches_from_a_node_that_was_deleted(graph):
    assert rows(graph, "MATCH (p:Person) DETACH DELETE p WITH p MATCH (p)--(q) RETURN q") == []
    assert rows(graph, "CREATE (n) WITH n DELETE n WITH n OPTIONAL MATCH (n)--(q) RETURN q") == [(None,)]


def test_a_deleted_path_still_has_its_length(graph):
    assert rows(graph, "MATCH p = (:Person)-[r]->() DELETE p RETURN length(p), size(nodes(p))") == [(1, 2)]


def test_values_of_every_kind_come_back_as_they_were_stored(graph):
    values = "[1, 1.5, 'a', true, date('2024-02-29'), duration('P1M2DT3S'), [1, 2], ['a'], [duration('P1D')], []]"
    assert rows(graph, f"UNWIND {values} AS v CREATE (n:V {{v: v}}) WITH v, n WHERE n.v = v RETURN count(*)") == [(10,)]
    assert rows(graph, "MATCH (n:V) WHERE n.v = duration('P1M2DT3S') SET n.w = n.v RETURN n.w") == [
        (Duration(1, 2, 3, 0),)
    ]


def test_limits_hold_back_rows_and_not_changes(graph):
    assert rows(graph, "MATCH (p:Person) SET p.seen = true RETURN p LIMIT 0") == []
    assert rows(graph, "MATCH (p) WHERE p.seen RETURN count(*)") == [(2,)]


def test_parts_of_a_union_write_one_after_the_other(graph):
    text = "CREATE (n:U) WITH count(*) AS c MATCH (u:U) RETURN count(u) AS c"
    assert rows(graph, f"{text} UNION ALL {text}") == [(1,), (2,)]
    assert rows(graph, "CREATE (:W) RETURN 1 AS one UNION CREATE (:W) RETURN 1 AS one") == [(1,)]
    assert len(graph.nodes_with("W")) == 2


def test_a_statement_that_fails_changes_nothing(graph):
    with pytest.raises(EvaluationError):
        rows(graph, "CREATE (:Lost) WITH 1 AS one MATCH (p:Person) SET p.n = 1 / (p.n - 2)")
    assert rows(graph, "MATCH (p:Person) RETURN p.n ORDER BY p.n") == [(1,), (2,)]
    assert len(graph.nodes_with("Lost")) == 0


def test_a_budget_ends_a_statement_and_takes_it_back(graph):
    with pytest.raises(BudgetError):
        run_write(graph, "UNWIND range(1, 1000) AS i CREATE (:Many)", budget=Budget(most_rows=100))
    assert len(graph.nodes_with("Many")) == 0


def test_statements_that_only_read_are_answered_too(graph):
    assert rows(graph, "MATCH (c:City) RETURN c.name AS `create`") == [("Rome",)]
    assert len(run_write(graph, "EXPLAIN MATCH (n) RETURN n.set").rows) > 0


def test_procedures_of_the_caller_can_be_called_between_writes(graph):
    double = fixed_rows("my.double(x :: INTEGER) :: (y :: INTEGER)", [(1, 2), (2, 4)])
    text = "MATCH (p:Person) SET p.seen = true WITH p CALL my.double(p.n) YIELD y SET p.n = y RETURN p.n"
    result = run_write(graph, text, procedures={"my.double": double})
    assert sorted(result.rows) == [(2,), (4,)]


def test_ids_in_the_graph_stay_when_answers_number_anew(graph):
    before = {node.properties["name"]: one for one, node in graph.nodes.items()}
    rows(graph, "MATCH (p {name: 'Ada'}) SET p:Aa DETACH DELETE p CREATE (:Aa {name: 'New'})")
    after = {node.properties["name"]: one for one, node in graph.nodes.items()}
    assert {name: after[name] for name in ("Bo", "Rome")} == {name: before[name] for name in ("Bo", "Rome")}
    assert after["New"] == 3


def test_a_graph_of_tables_can_be_changed_without_touching_it():
    import polars as pl

    source = Graph.from_tables(
        {"A": pl.DataFrame({"id": [1, 2]})}, [("R", pl.DataFrame({"from": [1], "to": [2], "w": [5]}), "A", "A")]
    )
    changed = source.mutable()
    assert rows(changed, "MATCH (a {id: 1})-[r]->(b) SET r.w = r.w + 1, b.id = 'two' RETURN r.w, b.id") == [(6, "two")]
    assert run_query(source, "MATCH ()-[r]->(b) RETURN r.w, b.id").rows == [(5, 2)]


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("CREATE (n) CREATE (n)", BindError, "already defined"),
        ("CREATE (n:A), (n:B)-[:R]->()", BindError, "already defined"),
        ("MATCH (n) CREATE (m)-[n:R]->()", BindError, "already defined"),
        ("CREATE (a)-[:R]-(b)", BindError, "one direction"),
        ("CREATE (a)-->(b)", BindError, "one type"),
        ("CREATE (a)-[:A|B]->(b)", BindError, "one type"),
        ("CREATE (a)-[:A*2]->(b)", BindError, "one relationship at a time"),
        ("CREATE (a:A|B)", BindError, "gives labels"),
        ("CREATE (a WHERE true)", BindError, "no conditions"),
        ("CREATE (a {x: b.y}), (b)", BindError, "not defined"),
        ("CREATE (a {x: count(*)})", BindError, "aggregate"),
        ("CREATE shortestPath((a)-[:R]->(b))", BindError, "shortest"),
        ("MERGE (a {x: $p})-[:R $p]->(b)", QuerySyntaxError, "whole map"),
        ("MERGE (a {x: null})", EvaluationError, "look for null"),
        ("MERGE (a)-[:R {x: null}]->(b)", EvaluationError, "look for null"),
        ("MATCH (a) MERGE (a)", BindError, "already defined"),
        ("MERGE (a) ON CREATE SET b.x = 1", BindError, "not defined"),
        ("MATCH (n) SET n.x = {a: 1}", EvaluationError, "cannot be MAP"),
        ("MATCH (n) SET n.x = [1, [2]]", EvaluationError, "list with LIST"),
        ("MATCH (n) SET n.x = [null]", EvaluationError, "list with NULL"),
        ("MATCH (n) SET n.x = n", EvaluationError, "cannot be NODE"),
        ("MATCH (n) SET n = 1", BindError, "a map, a node or a relationship"),
        ("MATCH ()-[r]->() SET r:L", BindError, "Only nodes have labels"),
        ("MATCH (n) SET n:A|B", QuerySyntaxError, "Labels are given"),
        ("WITH 1 AS x SET x.y = 1", BindError, "Only nodes and relationships"),
        ("MATCH (n) REMOVE n", QuerySyntaxError, "REMOVE takes"),
        ("MATCH (n) DELETE n:L", BindError, "DELETE takes"),
        ("MATCH (n) DELETE 1 + 1", BindError, "DELETE takes"),
        ("MATCH (n) DELETE n.name", EvaluationError, "DELETE takes"),
        ("MATCH (n) DELETE m", BindError, "not defined"),
        ("OPTIONAL MATCH (n:Nobody) CREATE (n)-[:R]->()", EvaluationError, "is null"),
        ("CREATE (n) MATCH (m) RETURN m", QuerySyntaxError, "WITH stands between"),
        ("MATCH (n) WITH n", QuerySyntaxError, "must end with"),
        ("CREATE (n) WITH n", QuerySyntaxError, "must end with"),
        ("CREATE (n) RETURN n AS a UNION CREATE (n) RETURN n AS b", BindError, "same columns"),
        ("CREATE (n) RETURN n UNION CREATE (n) RETURN n UNION ALL CREATE (n) RETURN n", QuerySyntaxError, "mixed"),
        ("EXPLAIN CREATE (n)", UnsupportedError, "only reads"),
        ("LOAD CSV FROM 'a.csv' AS line CREATE (:Line)", UnsupportedError, "LOAD is not supported"),
        ("FOREACH (x IN [1] | MATCH (n))", QuerySyntaxError, "clauses that write"),
        ("FOREACH (x IN 1 | CREATE ())", BindError, "takes a list"),
        ("MATCH (x) FOREACH (x IN [1] | CREATE ())", BindError, "already defined"),
        ("MATCH (p:Person) FOREACH (x IN p.n | CREATE ())", EvaluationError, "takes a list"),
        ("FOREACH (x IN [1] | CREATE (n)) SET n.x = 1", BindError, "not defined"),
        ("CREATE INDEX FOR (n:A) ON (n.x)", UnsupportedError, "INDEX is not supported"),
        ("CALL { CREATE (n) } RETURN 1", UnsupportedError, "top of a statement"),
    ],
)
def test_wrong_statements_are_refused_and_change_nothing(graph, text, error, reason):
    before = graph.version
    with pytest.raises(error, match=reason):
        rows(graph, text, p={})
    assert (len(graph.nodes), len(graph.relationships)) == (3, 1)
    assert error is EvaluationError or graph.version == before


def test_queries_of_a_vault_still_refuse_to_write():
    with pytest.raises(QueryError, match="edit the files"):
        run_query(Graph(0, (), {}, {}), "CREATE (n)")


_STEPS = st.sampled_from(
    (
        "CREATE (:A {v: $v})",
        "MERGE (:A {v: $v})",
        "MATCH (a:A), (b:B) MERGE (a)-[:R]->(b)",
        "MERGE (:B {v: $v})",
        "MATCH (a:A {v: $v}) SET a:B",
        "MATCH (a:B {v: $v}) REMOVE a:B SET a:A",
        "MATCH (a:A {v: $v}) SET a.v = a.v + 1",
        "MATCH (a)-[r]->(b {v: $v}) DELETE r",
        "MATCH (a {v: $v}) DETACH DELETE a",
        "MATCH (a {v: $v}) DELETE a",
    )
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(_STEPS, st.integers(0, 2)), max_size=12))
def test_any_run_of_statements_leaves_a_graph_in_order(steps):
    graph = MutableGraph()
    for text, value in steps:
        with suppress(EvaluationError):  # a node that keeps its relationships
            run_write(graph, text, {"v": value})
    for one, found in graph.relationships.items():
        assert one in graph.nodes[found.source].outgoing
        assert one in graph.nodes[found.target].incoming
    assert sum(len(node.outgoing) for node in graph.nodes.values()) == len(graph.relationships)
    assert rows(graph, "MATCH (n) RETURN count(n)") == [(len(graph.nodes),)]
    assert rows(graph, "MATCH ()-[r]->() RETURN count(r)") == [(len(graph.relationships),)]
    for label in graph.labels:
        having = {one for one, node in graph.nodes.items() if label in node.labels}
        assert set(graph.nodes_with(label)) == having
    merged = rows(graph, "MATCH (a:A)-[r:R]->(b:B) WITH a, b, count(r) AS c RETURN max(c)")
    assert merged in ([(None,)], [(1,)])
