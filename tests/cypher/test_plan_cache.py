"""Plans are kept by text and shapes of parameters, and answers never depend on that."""

import pytest

from vaultgraph.cypher.plan_cache import MOST_PLANS, PlanCache
from vaultgraph.cypher.query import run_query
from vaultgraph.errors import BindError


@pytest.fixture(scope="module")
def graph(make_graph):
    return make_graph([(["A"], {"x": at, "y": at % 2}) for at in range(6)], [(0, "R", 1, {}), (0, "R", 2, {})])


@pytest.fixture
def plans() -> PlanCache:
    return PlanCache()


def test_a_query_asked_again_is_not_planned_again(graph, plans):
    query = "MATCH (a:A) WHERE a.x > $least RETURN a.x AS x ORDER BY x"
    assert run_query(graph, query, {"least": 3}, plans=plans).rows == [(4,), (5,)]
    assert run_query(graph, query, {"least": 4}, plans=plans).rows == [(5,)]
    assert len(plans) == 1


def test_another_shape_of_parameters_is_another_plan(graph, plans):
    query = "MATCH (a:A {x: $x}) RETURN count(*) AS many"
    assert run_query(graph, query, {"x": 1}, plans=plans).rows == [(1,)]
    assert run_query(graph, query, {"x": 2}, plans=plans).rows == [(1,)]
    assert run_query(graph, query, {"x": "1"}, plans=plans).rows == [(0,)]
    assert run_query(graph, query, {"x": None}, plans=plans).rows == [(0,)]
    assert len(plans) == 3


def test_a_missing_parameter_is_missed_although_there_is_a_plan(graph, plans):
    query = "RETURN $x AS x"
    assert run_query(graph, query, {"x": 1}, plans=plans).rows == [(1,)]
    with pytest.raises(BindError, match=r"\$x"):
        run_query(graph, query, {}, plans=plans)


def test_explain_shows_the_kept_plan_and_keeps_nothing_of_the_answer(graph, plans):
    query = "MATCH (a)-[:R]->(b) RETURN b.x AS x ORDER BY x"
    first = run_query(graph, f"EXPLAIN {query}", plans=plans).rows
    assert run_query(graph, f"EXPLAIN {query}", plans=plans).rows == first
    assert run_query(graph, query, plans=plans).rows == [(1,), (2,)]


def test_a_cache_forgets_what_was_not_used_for_longest(graph, plans):
    for number in range(MOST_PLANS + 10):
        run_query(graph, f"RETURN {number} AS n", plans=plans)
    assert len(plans) == MOST_PLANS
    assert run_query(graph, "RETURN 0 AS n", plans=plans).rows == [(0,)]


def test_very_long_queries_are_not_kept(graph, plans):
    run_query(graph, f"RETURN '{'x' * 20_000}' AS text", plans=plans)
    assert len(plans) == 0
