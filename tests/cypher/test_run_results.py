"""What a Result offers, EXPLAIN, budgets and the tables of procedures."""

import time
from datetime import date
from threading import Event

import polars as pl
import pytest

from vaultgraph.cypher.budget import Budget, budget_for
from vaultgraph.cypher.execute.bindings import NodeColumn, ValueColumn
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.values import Node, Path, Relationship
from vaultgraph.errors import BudgetError, UnsupportedError


@pytest.fixture(scope="module")
def graph(make_graph):
    nodes = [(["Note"], {"path": "a.md", "day": date(2026, 1, 15)}), (["Note"], {"path": "b.md"})]
    return make_graph(nodes, [(0, "LINKS_TO", 1, {"line": 3})])


@pytest.fixture(scope="module")
def complete(make_graph):
    """Thirty nodes, each related to all others: far more trails than anybody can list."""
    pairs = [(one, "R", other, {}) for one in range(30) for other in range(30) if one != other]
    return make_graph([(["N"], {"id": number}) for number in range(30)], pairs)


def test_rows_are_tuples_of_public_values(graph):
    result = run_query(graph, "MATCH p = (a)-[r]->(b) RETURN a, r, p, a.day AS day, [b] AS list")
    ann = Node(0, ("Note",), {"path": "a.md", "day": date(2026, 1, 15)})
    bob = Node(1, ("Note",), {"path": "b.md"})
    link = Relationship(0, "LINKS_TO", 0, 1, {"line": 3})
    assert result.rows == [(ann, link, Path((ann, bob), (link,)), date(2026, 1, 15), [bob])]


def test_a_result_is_iterated_counted_and_made_into_dicts(graph):
    result = run_query(graph, "MATCH (n) RETURN n.path AS path ORDER BY path")
    assert (len(result), list(result), result.columns) == (2, [("a.md",), ("b.md",)], ("path",))
    assert result.to_dicts() == [{"path": "a.md"}, {"path": "b.md"}]


def test_typed_columns_stay_at_hand(graph):
    result = run_query(graph, "MATCH (n) RETURN n, n.path AS path")
    assert isinstance(result.bindings.columns["n"], NodeColumn)
    path = result.bindings.columns["path"]
    assert isinstance(path, ValueColumn)
    assert path.series.dtype == pl.String
    assert result.graph is graph


def test_csv_is_only_marked(graph):
    assert run_query(graph, "RETURN 1 AS x FORMAT CSV").csv
    assert not run_query(graph, "RETURN 1 AS x").csv


def test_explain_describes_the_plan_and_runs_nothing(graph):
    result = run_query(graph, "EXPLAIN MATCH (n:Note {path: 'a.md'})-[:LINKS_TO]->(m) RETURN m.path")
    assert result.columns == ("step", "operator", "details", "estimated_rows")
    assert [row[:3] for row in result.rows] == [
        (1, "Project", "m.path AS m.path"),
        (2, "· Expand", "(n)-[:LINKS_TO]->(m)"),
        (3, "· · SeekIndex", "(n:Note) path = 'a.md'"),
    ]


def test_explain_describes_every_operator(graph):
    query = """EXPLAIN
        MATCH (a:Note) OPTIONAL MATCH p = shortestPath((a)-[*]-(b)) WITH a, b, p SKIP 1
        UNWIND [1] AS x MATCH (a)-[r]->(c) MATCH (d)-[r]->(e), (d)-[:T*1..2 {w: 1}]->(f)
        WITH DISTINCT a, f, x, p ORDER BY x CALL db.labels() YIELD label
        RETURN a, count(f), p UNION RETURN 1 AS a, 2 AS `count(f)`, 3 AS p"""
    operators = {row[1].lstrip("· ") for row in run_query(graph, query).rows}
    assert operators >= {"Distinct", "Union", "Aggregate", "CallProcedure", "Sort", "ExpandBound", "Unwind", "Skip"}
    assert operators >= {"Reach", "Optional", "BuildPath", "ShortestPaths", "Join", "ScanNodes", "Argument"}


def test_too_many_rows_are_refused_with_advice(complete):
    with pytest.raises(BudgetError, match="cap of 1,000"):
        run_query(complete, "MATCH (a)-[*]->(b) RETURN count(*)", budget=Budget(most_rows=1000))


def test_a_product_is_refused_before_it_is_made(complete):
    with pytest.raises(BudgetError, match="810,000 rows beside 30 rows make 24,300,000"):
        run_query(complete, "MATCH (a), (b), (c), (d), (e) RETURN a.id + b.id + c.id + d.id + e.id AS s ORDER BY s")


def test_a_passed_deadline_stops_a_query(complete):
    with pytest.raises(BudgetError, match="ran out of time"):
        run_query(complete, "MATCH (a)-->(b) RETURN b", budget=Budget(deadline=time.monotonic() - 1, timeout_ms=5))


def test_cancelling_stops_a_query(complete):
    cancelled = Event()
    cancelled.set()
    with pytest.raises(BudgetError, match="cancelled"):
        run_query(complete, "MATCH (a) RETURN a", budget=budget_for(None, cancelled))


def test_counting_hops_never_makes_their_rows(complete):
    result = run_query(complete, "MATCH (a)-->(b)-->(c) RETURN count(*)", budget=Budget(most_rows=900))
    assert result.rows == [(30 * 29 * 29,)]


def test_a_limit_stops_before_the_whole_pattern_is_made(complete):
    budget = Budget(most_rows=30_000)
    rows = run_query(complete, "MATCH (a)-->(b)-->(c) RETURN a.id, b.id, c.id LIMIT 5", budget=budget).rows
    assert len(rows) == 5


def test_problems_come_from_the_table_that_is_handed_in(graph):
    frame = pl.DataFrame(
        {"path": ["a.md"], "line": pl.Series([3], dtype=pl.Int32), "code": ["x"], "severity": ["warning"]}
    ).with_columns(message=pl.lit("text"))
    query = "CALL vault.problems() YIELD path, line MATCH (n {path: path}) RETURN n.path, line"
    assert run_query(graph, query, tables={"vault.problems": lambda: frame}).rows == [("a.md", 3)]


def test_functions_and_procedures_list_themselves(graph):
    rows = run_query(graph, "CALL dbms.functions() YIELD name, aggregating WHERE name = 'count' RETURN *").rows
    assert rows == [("count", True)]
    names = run_query(graph, "CALL dbms.procedures() YIELD name RETURN collect(name)").rows[0][0]
    assert "vault.problems" in names


def test_very_many_conditions_are_no_trouble(complete):
    conditions = " AND ".join(f"n.id <> {number}" for number in range(29)) + " AND n.id >= 0" * 300
    assert run_query(complete, f"MATCH (n) WHERE {conditions} RETURN n.id").rows == [(29,)]


def test_a_plan_that_is_too_deep_is_refused(graph):
    with pytest.raises(UnsupportedError, match="too many parts"):
        run_query(graph, "WITH 1 AS x " + "UNWIND [x] AS y WITH y AS x " * 2000 + "RETURN x")
