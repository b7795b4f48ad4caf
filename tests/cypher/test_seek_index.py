"""A sorted index finds what comparing every node finds, whatever the types of the cells."""

from datetime import date, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.query import run_query
from vaultgraph.graph.schema import schema_of

TEXTS = st.text(st.sampled_from("ab\u00e9\U0001f600\ue000"), max_size=3)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from((2**53, 2**53 + 1, 2**63 - 1, -(2**63))),
    st.sampled_from((0.5, -0.0, 2.0, 2.0**53, 2.0**63, float("nan"), float("inf"))),
)
DAYS = st.dates(date(2020, 1, 1), date(2020, 1, 5))
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 5))
VALUES = st.one_of(TEXTS, NUMBERS, DAYS, MOMENTS, st.booleans())
MIXED = st.one_of(TEXTS, NUMBERS, DAYS, st.booleans())
KINDS = (TEXTS, st.integers(-3, 3), NUMBERS.filter(lambda one: isinstance(one, float)), DAYS, MOMENTS, st.booleans())
OPERATORS = ("=", "<", "<=", ">", ">=", "STARTS WITH")
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def cells(draw):
    """Nodes with two labels and a property x: of one kind a label, or of any."""
    nodes = []
    for label in ("A", "B"):
        kind = draw(st.sampled_from((*KINDS, MIXED)))
        for value in draw(st.lists(st.one_of(st.none(), kind), max_size=8)):
            nodes.append(([label], {"n": len(nodes)} if value is None else {"n": len(nodes), "x": value}))
    return [*nodes, (["B"], {"n": len(nodes)})]


def found(graph, schema, query, **parameters):
    return [row[0] for row in run_query(graph, query, parameters, schema=schema).rows]


def check(graph, predicate, **parameters):
    """The same nodes by an index, the second time it is asked for, and by a filter."""
    indexed, plain = schema_of(graph, {"A": ("x",), "B": ("x",)}), schema_of(graph)
    for label in ("A", "B"):
        sought = f"MATCH (n:{label}) WHERE {predicate} RETURN n.n"
        expected = found(graph, plain, f"MATCH (n:{label}) WHERE {predicate} OR false RETURN n.n", **parameters)
        assert [found(graph, indexed, sought, **parameters) for _ in range(3)] == [expected] * 3
        plan = [row[1].lstrip("· ") for row in run_query(graph, "EXPLAIN " + sought, parameters, schema=indexed).rows]
        assert "SeekIndex" in plan


@SETTINGS
@given(nodes=cells(), operator=st.sampled_from(OPERATORS), value=VALUES)
def test_one_comparison(nodes, operator, value, make_graph):
    check(make_graph(nodes, []), f"n.x {operator} $value", value=value)


@SETTINGS
@given(nodes=cells(), values=st.lists(st.one_of(st.none(), VALUES), max_size=4))
def test_a_list(nodes, values, make_graph):
    check(make_graph(nodes, []), "n.x IN $values", values=values)


@pytest.mark.parametrize("cell", [2.0**63, 2**63 - 1, -(2.0**63), -(2**63), 2.0**53, 2**53 + 1])
@pytest.mark.parametrize("value", [2.0**63, 2**63 - 1, -(2.0**63), -(2**63), -(2**63) + 1, 2.0**53, 2**53, 2**53 + 1])
@pytest.mark.parametrize("predicate", ["n.x = $value", "n.x IN [$value]", "n.x < $value", "n.x >= $value"])
def test_whole_numbers_and_floats_at_the_edge_of_exactness(cell, value, predicate, make_graph):
    check(make_graph([(["A"], {"n": 0, "x": cell}), (["B"], {"n": 1, "x": "a text"})], []), predicate, value=value)


@SETTINGS
@given(nodes=cells(), ends=st.tuples(VALUES, VALUES), signs=st.tuples(*[st.sampled_from(("<", "<=", ">", "="))] * 2))
def test_a_range(nodes, ends, signs, make_graph):
    check(make_graph(nodes, []), f"$low {signs[0]} n.x {signs[1]} $high", low=ends[0], high=ends[1])


def test_two_indexes_and_a_filter(make_graph):
    nodes = [(["A"], {"n": n, "x": n % 10, "y": f"t{n % 7}", "z": n % 2}) for n in range(200)]
    graph = make_graph(nodes, [])
    schema = schema_of(graph, {"A": ("x", "y")})
    query = "MATCH (n:A) WHERE n.x = 3 AND n.y IN ['t1', 't2'] AND n.z = 1 AND n.x <> 4 RETURN n.n"
    expected = [n for n in range(200) if n % 10 == 3 and n % 7 in (1, 2) and n % 2 == 1]
    assert [found(graph, schema, query) for _ in range(3)] == [expected] * 3


def test_one_and_true_are_not_the_same(make_graph):
    graph = make_graph([(["A"], {"n": 0, "x": 1})], [])
    schema = schema_of(graph, {"A": ("x",)})
    for _ in range(3):
        assert found(graph, schema, "MATCH (n:A) WHERE n.x = 1 AND n.x = true RETURN n.n") == []


def test_a_date_that_is_sought_as_a_text_still_warns(make_graph):
    graph = make_graph([(["A"], {"x": date(2020, 1, 1)})], [])
    schema = schema_of(graph, {"A": ("x",)})
    results = [run_query(graph, "MATCH (n:A) WHERE n.x = '2020-01-01' RETURN n", schema=schema) for _ in range(3)]
    assert [bool(result.warnings) for result in results] == [True] * 3


@pytest.mark.parametrize("value", ["x", 5, None, [1], {"a": 1}])
def test_a_property_that_no_node_has(value, make_graph):
    graph = make_graph([(["A"], {"n": 1})], [])
    schema = schema_of(graph, {"A": ("x",)})
    for _ in range(3):
        assert found(graph, schema, "MATCH (n:A) WHERE n.x = $value RETURN n.n", value=value) == []


def test_indexes_are_known_to_the_schema(make_graph):
    assert schema_of(make_graph([], []), {"A": ("x",)}).indexes == {"A": ("x",)}
