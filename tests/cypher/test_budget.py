"""The budget stops whatever grows: joins, trails, texts, lists and maps, by size as well as by rows, and soon."""

from threading import Event

import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.query import run_query
from vaultgraph.errors import BudgetError, UnsupportedError

SMALL = 1_000_000  # bytes


@pytest.fixture(scope="module")
def dense(make_graph):
    """Forty nodes, each joined to every other one; texts of 1,000 characters."""
    nodes = [(("N",), {"i": number, "text": "a" * 1000}) for number in range(40)]
    return make_graph(nodes, [(a, "R", b, {}) for a in range(40) for b in range(40) if a != b])


def ask(graph, text, **limits):
    return run_query(graph, text, budget=Budget(**limits))


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a), (b), (c) RETURN a, b, c",
        "MATCH (a)-[*1..4]->(b) RETURN count(*)",
        "MATCH p = (a)-[*1..3]->(b) RETURN p",
        "MATCH (a)-[r*1..3]->(b) RETURN r",
        "MATCH (a), (b) RETURN a.text + b.text",
        "MATCH (a), (b) RETURN a.i + b.text",
        "MATCH (a) RETURN replace(a.text, 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
        "UNWIND range(1, 50000) AS x RETURN {x: x}",
        "UNWIND range(1, 50000) AS x RETURN [x, x]",
        "MATCH (a) UNWIND range(1, 1000) AS x RETURN a {.i}",
        "WITH range(1, 5000) AS l UNWIND range(1, 100) AS x RETURN l + x",
        "RETURN [x IN range(1, 5000) | range(1, 5000)]",
        "UNWIND range(1, 200000) AS x WITH x, x AS y, x AS z UNWIND [1, 2] AS w RETURN *",
    ],
)
def test_what_needs_much_memory_is_refused_with_advice(dense, text):
    with pytest.raises(BudgetError, match="needs more than 1 MB for one of its steps"):
        ask(dense, text, most_bytes=SMALL)


def test_every_length_of_trail_counts_towards_the_cap_of_rows(dense):
    with pytest.raises(BudgetError, match="intermediate rows"):
        ask(dense, "MATCH (a)-[*]->(b) RETURN count(*)", most_rows=100_000)


def test_rows_that_nothing_joins_are_refused_with_both_sizes(dense):
    with pytest.raises(BudgetError, match=r"40 rows beside 40 rows make 1,600.*nothing joins them"):
        ask(dense, "MATCH (a), (b) RETURN count(*)", most_rows=1000)


def test_pieces_of_rows_give_the_rows_in_their_order(dense):
    whole = run_query(dense, "MATCH (a) WITH a ORDER BY a.i DESC MATCH (a)-[*1..2]->(b {i: 3}) RETURN a.i, count(*)")
    assert whole.rows[0] == (39, 39)
    assert [row[0] for row in whole.rows] == sorted(range(40), reverse=True)
    assert dict(whole.rows)[3] == 39


def test_long_lists_beside_many_rows_are_shared(dense):
    text = "UNWIND range(1, 2000) AS x WITH x, range(1, 10000) AS l RETURN sum(size(l)), sum(l[x])"
    assert run_query(dense, text).rows == [(20_000_000, sum(range(2, 2002)))]


def test_much_text_beside_many_rows_is_shared(dense):
    text = (
        "WITH reduce(t = 'ab', x IN range(1, 16) | t + t) AS t UNWIND range(1, 400) AS x "
        "WITH x, [t, t] AS l UNWIND l AS one RETURN count(one), max(size(one)), count(DISTINCT one)"
    )
    assert run_query(dense, text).rows == [(800, 131_072, 1)]


def test_rows_that_reach_much_are_worked_on_a_few_at_a_time(make_graph):
    size = 180
    nodes = [(("N",), {"i": number}) for number in range(size)] + [(("Z",), {})]
    graph = make_graph(nodes, [(a, "R", b, {}) for a in range(size) for b in range(size) if a != b])
    reached = run_query(graph, "MATCH (a:N) MATCH (a)-[:R*1..2]->(b) WITH DISTINCT a, b RETURN a.i, count(b)")
    assert reached.rows == [(number, size) for number in range(size)]
    assert run_query(graph, "MATCH (a:N), (z:Z), p = shortestPath((a)-[*..2]->(z)) RETURN p").rows == []


def test_long_patterns_are_refused_before_they_are_planned(dense):
    with pytest.raises(UnsupportedError, match="More than 100 nodes"):
        run_query(dense, "MATCH (a)" + "-->()" * 3000 + " RETURN count(*)")


def test_a_budget_error_says_which_pattern_or_expression_is_at_fault(dense):
    text = "MATCH (a)-[:R*1..4]->(b) RETURN count(*)"
    with pytest.raises(BudgetError) as refused:
        ask(dense, text, most_bytes=SMALL)
    assert text[refused.value.start : refused.value.end] == "-[:R*1..4]->"
    text = "UNWIND range(1, 50000) AS x RETURN {x: x}"
    with pytest.raises(BudgetError) as refused:
        ask(dense, text, most_bytes=SMALL)
    assert text[refused.value.start : refused.value.end] == "{x: x}"


class _SetLater(Event):
    """An Event that is set once it has been looked at some times."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def is_set(self):
        self.looks -= 1
        return self.looks < 0


@pytest.mark.parametrize(
    "text",
    [
        "RETURN [x IN range(1, 10000000) | x + 1]",
        "RETURN reduce(s = 0, x IN range(1, 10000000) | s + x)",
        "UNWIND range(1, 5000000) AS x RETURN DISTINCT {x: x}",
        "UNWIND range(1, 5000000) AS x RETURN x ORDER BY {x: x}",
        "MATCH (a)-[*]->(b) RETURN count(*)",
        "MATCH (a), (b) UNWIND range(1, 2000) AS x MATCH p = shortestPath((a)-[*]->(b)) RETURN p",
    ],
)
def test_a_cancelled_query_stops_while_an_operator_runs(dense, text):
    with pytest.raises(BudgetError, match="cancelled"):
        ask(dense, text, cancelled=_SetLater(20))


@pytest.mark.parametrize(
    ("first", "last", "step"), [(1, 20_000, 1), (20_000, -9, -1), (2**63 - 15_000, 2**63 - 1, 1), (0, 30_001, 3)]
)
def test_a_long_range_is_unwound_without_a_list(make_graph, first, last, step):
    query = f"UNWIND range({first}, {last}, {step}) AS x RETURN count(x), min(x), max(x)"
    numbers = range(first, last + (1 if step > 0 else -1), step)
    assert run_query(make_graph([], []), query).rows == [(len(numbers), min(numbers), max(numbers))]
