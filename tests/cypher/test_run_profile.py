"""PROFILE: the plan with what every operator made and took, as the rows of the answer; and SHOW."""

from vaultgraph.cypher.query import run_query
from vaultgraph.graph.graph import Graph

EMPTY = Graph(0, (), {}, {})


def test_a_profile_shows_the_rows_each_operator_made(make_graph):
    graph = make_graph([(["A"], {"x": n}) for n in range(10)], [])
    result = run_query(graph, "PROFILE MATCH (n:A) WHERE n.x > 7 RETURN n.x AS x ORDER BY x LIMIT 1")
    assert result.columns == ("step", "operator", "details", "estimated_rows", "rows", "ms")
    rows = {operator.lstrip("· "): rows for _, operator, _, _, rows, _ in result.rows}
    assert rows["ScanNodes"] == 10
    assert rows["Filter"] == 2
    assert rows["TopK"] == 1
    assert all(ms >= 0 for *_, ms in result.rows)


def test_a_profile_counts_an_inner_plan_for_all_rows_together(make_graph):
    graph = make_graph([(["A"], {}), (["A"], {}), (["B"], {})], [(0, "T", 2, {}), (1, "T", 2, {})])
    result = run_query(graph, "PROFILE MATCH (n:A) CALL (n) { MATCH (n)-->(m) RETURN count(m) AS c } RETURN c")
    rows = {operator.lstrip("· "): rows for _, operator, _, _, rows, _ in result.rows}
    assert rows["Apply"] == 2
    assert rows["Argument"] == 2
    assert rows["EmptyGroups"] == 2


def test_a_profile_lists_the_operators_that_explain_lists(make_graph):
    graph = make_graph([(["A"], {"x": 1})], [])
    query = "MATCH (n:A) OPTIONAL MATCH (n)-->(m) RETURN n.x, count(m)"
    explained = [row[:4] for row in run_query(graph, "EXPLAIN " + query).rows]
    assert [row[:4] for row in run_query(graph, "PROFILE " + query).rows] == explained


def test_show_functions_lists_functions_with_their_signatures():
    result = run_query(EMPTY, "SHOW FUNCTIONS YIELD name, signature WHERE name = 'coalesce'")
    assert result.rows == [("coalesce", "coalesce(value... :: ANY) :: ANY")]


def test_show_takes_a_condition_without_a_yield():
    result = run_query(EMPTY, "SHOW BUILT IN FUNCTIONS WHERE aggregating AND name STARTS WITH 'c'")
    assert [name for name, _, _ in result.rows] == ["collect", "count"]


def test_show_procedures_lists_procedures_with_their_signatures():
    result = run_query(EMPTY, "SHOW PROCEDURES YIELD name, signature WHERE name = 'vault.outline' RETURN signature")
    assert result.rows == [("vault.outline(path :: STRING) :: (line :: INTEGER, level :: INTEGER, text :: STRING)",)]
