"""Options of graph algorithms: what they choose, what is refused in which words, and how budgets hold."""

import time
from threading import Event

import polars as pl
import pytest

from vaultgraph.cypher.algorithms.calls import run_algorithm
from vaultgraph.cypher.algorithms.declared import ALGORITHMS
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.values import NodeRef
from vaultgraph.errors import BindError, BudgetError, EvaluationError
from vaultgraph.graph.graph import Graph

NAMES = sorted(one.name for one in ALGORITHMS.values())
NO_SOURCE = [name for name in NAMES if name != "algo.shortestPaths"]


@pytest.fixture(scope="module")
def graph(make_graph):
    """Four notes in a ring, a folder that holds two of them, and weights of every kind."""
    nodes = [(("Note",), {"path": f"{name}.md"}) for name in "abcd"] + [(("Folder",), {"path": "f"})]
    ring = [(i, "LINKS_TO", (i + 1) % 4, {"good": i + 1, "some": 1.5 if i else None}) for i in range(4)]
    odd = [(0, "ODD", 1, {"bad": -2, "worse": float("nan"), "worst": float("inf"), "text": "far", "mixed": 3})]
    odd += [(1, "ODD", 2, {"mixed": "far"})]
    return make_graph(nodes, [*ring, *odd, (4, "CONTAINS", 0, {}), (4, "CONTAINS", 1, {})])


def ring(size, *, closed=True):
    """A graph of one ring, or of a line."""
    ids = pl.Series(range(size))
    links = pl.DataFrame({"from": ids, "to": (ids + 1) % size})
    return Graph.from_tables({"N": pl.DataFrame({"id": ids})}, [("R", links[: size if closed else -1], "N", "N")])


def ask(graph, text, **parameters):
    return run_query(graph, text, parameters).rows


@pytest.mark.parametrize("name", NO_SOURCE)
def test_every_algorithm_runs_without_options_and_with_an_empty_map(graph, name):
    column = list(ALGORITHMS[name.lower()].columns)[1]
    rows = ask(graph, f"CALL {name}() YIELD node, {column} RETURN node.path, {column}")
    assert sorted(path for path, _ in rows) == ["a.md", "b.md", "c.md", "d.md", "f"]
    assert ask(graph, f"CALL {name}({{}}) YIELD node, {column} RETURN node.path, {column}") == rows
    assert ask(graph, f"CALL {name}(null) YIELD node, {column} RETURN node.path, {column}") == rows


@pytest.mark.parametrize("name", NO_SOURCE)
def test_an_empty_subgraph_gives_no_rows(graph, name):
    assert ask(graph, f"CALL {name}({{labels: []}}) YIELD node RETURN node") == []
    assert ask(graph, f"CALL {name}({{nodes: []}}) YIELD node RETURN node") == []


@pytest.mark.parametrize("name", NO_SOURCE)
def test_nodes_without_relationships_are_in_the_answer(graph, name):
    assert len(ask(graph, f"CALL {name}({{types: [], labels: 'Note'}}) YIELD node RETURN node")) == 4


@pytest.mark.parametrize("name", NAMES)
def test_no_input_rows_mean_no_call(graph, name):
    column = list(ALGORITHMS[name.lower()].columns)[1]
    text = f"""MATCH (n:Note {{path: 'none'}}) CALL {name}({{source: n}}) YIELD node, {column} AS c
        MATCH (node)-->(m) RETURN node.path, c, m"""
    assert ask(graph, text) == []


def test_labels_types_and_nodes_choose_the_subgraph(graph):
    text = "CALL algo.degree($options) YIELD node, degree RETURN node.path, degree ORDER BY node.path"
    assert ask(graph, text, options={"labels": ["Note"], "types": ["LINKS_TO"]}) == [
        ("a.md", 2),
        ("b.md", 2),
        ("c.md", 2),
        ("d.md", 2),
    ]
    assert ask(graph, text, options={"labels": "Folder"}) == [("f", 0)]
    chosen = """MATCH (n:Note) WHERE n.path < 'c' WITH collect(n) AS some
        CALL algo.degree({nodes: some, types: 'LINKS_TO'}) YIELD node, degree RETURN node.path, degree"""
    assert ask(graph, chosen) == [("a.md", 1), ("b.md", 1)]


def test_a_source_is_a_node_or_a_path(graph):
    call = "CALL algo.shortestPaths({source: $s, types: ['LINKS_TO']}) YIELD node, distance, path"
    rows = [("a.md", 0.0, None), ("b.md", 1.0, None), ("c.md", 2.0, None), ("d.md", 3.0, None)]
    assert ask(graph, f"{call} RETURN node.path, distance, path", s="a.md") == rows
    given = call.replace("$s", "s")
    assert ask(graph, f"MATCH (s {{path: 'a.md'}}) {given} RETURN node.path, distance, path") == rows
    [[node]] = ask(graph, "MATCH (s {path: 'a.md'}) RETURN s")
    assert ask(graph, f"{call} RETURN node.path, distance, path", s=node) == rows
    found = (
        "CALL algo.shortestPaths({source: 'a.md', target: ['c.md', 'f']}) YIELD path RETURN [n IN nodes(path) | n.path]"
    )
    assert ask(graph, found) == [(["a.md", "b.md", "c.md"],)]


def test_weights_that_are_missing_get_the_default(graph):
    text = "CALL algo.degree({types: 'LINKS_TO', labels: 'Note', direction: 'out', weight: 'some', defaultWeight: 10}) "
    text += "YIELD node, strength RETURN node.path, strength"
    assert ask(graph, text) == [("a.md", 10.0), ("b.md", 1.5), ("c.md", 1.5), ("d.md", 1.5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "{wieght: 'good'}",
            "has no option 'wieght'; did you mean weight\\? It takes: labels, types, nodes, direction",
        ),
        ("{labels: ['Nota']}", "no label 'Nota' in the graph; did you mean Note\\? There are: Note, Folder"),
        ("{types: 'LINKS'}", "no relationship type 'LINKS' in the graph"),
        ("{labels: [1]}", "labels is a name or a list of names, not LIST"),
        ("{direction: 'up'}", "direction is 'out', 'in' or 'both', not 'up'"),
        ("{damping: 1}", "damping is a number from 0 to below 1, not 1"),
        ("{iterations: 0}", "iterations is a whole number from 1 to 10,000, not 0"),
        ("{iterations: true}", "iterations is a whole number"),
        ("{nodes: 3}", "nodes is a list of nodes, such as collect"),
        ("{nodes: [3]}", "nodes is a list of nodes, such as collect"),
        ("{source: 'z.md'}", "No node has the path 'z.md' given as source"),
        ("{source: 3}", "source is a node, the path of a note, or a list of these, not 3"),
        ("{source: 'f', labels: 'Note'}", "'f' given as source is not in the subgraph"),
        ("{defaultWeight: 1}", "defaultWeight needs weight"),
        ("{weight: 'some'}", "'some' is missing on 5 of 8 relationships, such as the one from a.md to b.md"),
        ("{weight: 'bad', defaultWeight: 1}", "'bad' is negative on 1 of 8 relationships"),
        ("{weight: 'worse', defaultWeight: 1}", "'worse' is NaN on 1 of 8"),
        ("{weight: 'worst', defaultWeight: 1}", "'worst' is infinite on 1 of 8"),
        ("{weight: 'text', defaultWeight: 1}", "'text' is no number on 1 of 8"),
        ("{weight: 'mixed', defaultWeight: 1}", "'mixed' is no number on 1 of 8.*b.md to c.md"),
        ("{weight: 'nowhere'}", "'nowhere' is missing on 8 of 8"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_right(graph, options, message):
    text = f"CALL algo.pagerank({options}) YIELD node RETURN node"
    with pytest.raises(EvaluationError, match=message) as refused:
        ask(graph, text)
    assert text[refused.value.start : refused.value.end] == options


def test_an_argument_that_is_no_map_is_refused_before_anything_runs(graph):
    with pytest.raises(BindError, match="cannot take"):
        ask(graph, "CALL algo.pagerank('Note') YIELD node RETURN node")
    with pytest.raises(BindError, match="takes 0 to 1 arguments, not 2"):
        ask(graph, "CALL algo.pagerank({}, {}) YIELD node RETURN node")


def test_shortest_paths_need_one_source(graph):
    for options in ("", "{}", "{source: ['a.md', 'b.md']}"):
        with pytest.raises(EvaluationError, match="needs source: the one node"):
            ask(graph, f"CALL algo.shortestPaths({options}) YIELD node RETURN node")


def test_a_path_that_several_nodes_share_asks_for_the_node(make_graph):
    twins = make_graph([(("A",), {"path": "x"}), (("B",), {"path": "x"})], [(0, "R", 1, {})])
    with pytest.raises(EvaluationError, match="2 nodes have the path 'x'"):
        run_algorithm(twins, "algo.shortestPaths", {"source": "x"}, Budget())
    assert run_algorithm(twins, "algo.shortestPaths", {"source": "x", "labels": ["A"]}, Budget()).height == 1


def test_every_row_of_the_input_may_have_its_own_options(graph):
    text = """MATCH (n:Note) CALL algo.shortestPaths({source: n, types: ['LINKS_TO']}) YIELD node, distance
        RETURN n.path, sum(distance) ORDER BY n.path"""
    assert ask(graph, text) == [("a.md", 6.0), ("b.md", 6.0), ("c.md", 6.0), ("d.md", 6.0)]


@pytest.mark.parametrize("name", NAMES)
def test_a_cancelled_query_ends(graph, name):
    cancelled = Event()
    cancelled.set()
    with pytest.raises(BudgetError, match="cancelled"):
        run_algorithm(graph, name, {"source": "a.md"} if name.endswith("Paths") else {}, Budget(cancelled=cancelled))


@pytest.mark.parametrize("name", NAMES)
def test_a_deadline_that_has_passed_ends_an_algorithm(graph, name):
    budget = Budget(deadline=0.0, timeout_ms=1)
    with pytest.raises(BudgetError):
        run_algorithm(graph, name, {"source": "a.md"} if name.endswith("Paths") else {}, budget)


class _Later(Event):
    """An event that is set once it has been asked twenty times: a caller who cancels in the middle."""

    asked = 0

    def is_set(self):
        self.asked += 1
        return self.asked > 20


@pytest.mark.parametrize("name", ["betweenness", "closeness", "coreness", "shortestPaths"])
def test_cancelling_in_the_middle_ends_a_long_walk(name):
    options = {"source": NodeRef(0)} if name == "shortestPaths" else {}
    line = ring(400, closed=False)
    with pytest.raises(BudgetError, match="cancelled"):
        run_algorithm(line, f"algo.{name}", options, Budget(cancelled=_Later()))
    assert run_algorithm(line, f"algo.{name}", options, Budget()).height == 400


def test_the_caps_of_rows_and_bytes_hold(graph):
    with pytest.raises(BudgetError, match="cap of 3"):
        run_algorithm(graph, "algo.degree", {"types": []}, Budget(most_rows=3))
    paths = {"source": "a.md", "paths": True}
    with pytest.raises(BudgetError, match="for one of its steps"):
        run_algorithm(graph, "algo.shortestPaths", paths, Budget(most_bytes=700))


def test_what_would_take_hours_is_refused_at_once_with_a_number_of_samples():
    with pytest.raises(BudgetError, match="Give samples: 5524 for estimates"):
        run_algorithm(ring(60_000), "algo.betweenness", {}, Budget())


def test_what_the_library_could_not_do_in_time_is_not_begun():
    budget = Budget(deadline=time.monotonic() + 0.5)
    with pytest.raises(BudgetError, match=r"nodes and relationships would take about|ran out of time"):
        run_algorithm(ring(200_000), "algo.components", {"kind": "strong"}, budget)
