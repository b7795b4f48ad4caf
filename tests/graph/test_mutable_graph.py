"""The graph that changes, its frozen form, and the way back."""

from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.entities import node_properties, relationship_properties
from vaultgraph.errors import BuildError
from vaultgraph.graph.columns import VARIANT
from vaultgraph.graph.freezing import freeze
from vaultgraph.graph.mutable import MutableGraph, Written
from vaultgraph.note.records import ValueKind


def state(graph: MutableGraph):
    """All that can be seen of a graph."""
    nodes = {
        one: (node.labels, dict(node.properties), set(node.outgoing), set(node.incoming))
        for one, node in graph.nodes.items()
    }
    relationships = {
        one: (found.type, found.source, found.target, dict(found.properties))
        for one, found in graph.relationships.items()
    }
    return nodes, relationships, {label: set(graph.nodes_with(label)) for label in graph.labels}


@pytest.fixture
def pair() -> MutableGraph:
    graph = MutableGraph()
    ada, bo = graph.create_node(("Person", "Author"), {"name": "Ada"}), graph.create_node(("Person",), {"name": "Bo"})
    graph.create_relationship("KNOWS", ada, bo, {"since": 1840})
    return graph


def test_ids_count_up_and_are_never_given_twice(pair):
    gone = pair.create_node()
    pair.delete_node(gone)
    assert (gone, pair.create_node()) == (2, 3)


def test_a_null_property_is_none(pair):
    pair.set_property(pair.nodes[0], "name", None)
    assert pair.nodes[0].properties == {}
    assert pair.nodes[pair.create_node((), {"a": None, "b": 1})].properties == {"b": 1}


def test_labels_are_found_by_name_and_keep_their_order(pair):
    pair.add_labels(1, ("Author", "Person", "Poet"))
    pair.remove_labels(0, ("Person", "Nothing"))
    assert pair.nodes[1].labels == ("Person", "Author", "Poet")
    assert set(pair.nodes_with("Author")) == {0, 1}
    assert set(pair.nodes_with("Person")) == {1}
    assert set(pair.nodes_with("Unknown")) == set()


def test_a_node_with_relationships_is_not_deleted(pair):
    with pytest.raises(BuildError, match="still has relationships"):
        pair.delete_node(0)
    pair.delete_relationship(0)
    pair.delete_node(0)
    assert set(pair.nodes) == {1}


def test_a_relationship_needs_its_nodes(pair):
    with pytest.raises(BuildError, match="no node 7"):
        pair.create_relationship("KNOWS", 0, 7)


def test_a_loop_is_one_relationship_of_its_node():
    graph = MutableGraph()
    node = graph.create_node()
    loop = graph.create_relationship("SELF", node, node)
    assert list(graph.relationships_of(node)) == [loop]
    graph.delete_relationship(loop)
    assert list(graph.relationships_of(node)) == []


def test_what_fails_is_undone_as_a_whole(pair):
    before = state(pair)

    def change_and_fail():
        pair.set_properties(pair.nodes[0], {"x": 1})
        pair.delete_relationship(0)
        pair.delete_node(0)
        pair.add_labels(1, ("New",))
        made = pair.create_node(("Person", "New"))
        pair.create_relationship("KNOWS", made, 1)
        pair.delete_node(made)

    with pytest.raises(BuildError), pair.all_or_nothing():
        change_and_fail()
    assert state(pair) == before
    assert (pair.create_node(), pair.create_relationship("KNOWS", 0, 1)) == (2, 1)


def test_what_succeeds_stays(pair):
    with pair.all_or_nothing():
        pair.create_node(("New",))
    assert set(pair.nodes_with("New")) == {2}


def test_nodes_with_the_same_labels_lie_side_by_side(pair):
    pair.create_node(("Person", "Author"), {"name": "Cy"})
    frozen = freeze(pair)
    assert [(group.labels, group.first, group.stop) for group in frozen.graph.groups] == [
        (("Person",), 0, 1),
        (("Person", "Author"), 1, 3),
    ]
    assert frozen.node_ids.tolist() == [1, 0, 2]
    assert frozen.node_places.tolist() == [1, 0, 2]
    assert frozen.graph.node_columns["name"].segments[1].series.to_list() == ["Ada", "Cy"]


def test_relationships_are_sorted_in_their_table_and_keep_their_ids(pair):
    first = pair.create_relationship("KNOWS", 1, 0, {"since": 1841})
    again = pair.create_relationship("KNOWS", 1, 0)
    pair.create_relationship("AVOIDS", 0, 0)
    frozen = freeze(pair)
    knows = frozen.graph.relationships["KNOWS"]
    assert list(frozen.graph.relationships) == ["AVOIDS", "KNOWS"]
    assert (knows.first, knows.sources.tolist(), knows.targets.tolist()) == (1, [0, 0, 1], [1, 1, 0])
    assert frozen.relationship_ids.tolist() == [3, first, again, 0]
    assert knows.columns["since"].segments[0].series.to_list() == [1841, None, 1840]


def test_a_frozen_graph_does_not_change_with_the_graph_it_came_from(pair):
    graph = freeze(pair).graph
    pair.set_property(pair.nodes[0], "name", "Eve")
    pair.create_node()
    assert graph.node_count == 2
    assert sorted(node["name"] for node in node_properties(graph, np.arange(2))) == ["Ada", "Bo"]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True, False], pl.Boolean()),
        ([1, 2], pl.Int64()),
        ([1.5, float("inf")], pl.Float64()),
        (["a", ""], pl.String()),
        ([date(2024, 2, 29), None], pl.Date()),
        ([datetime(2024, 1, 2, 3, 4, 5, 6)], pl.Datetime("us")),
        ([datetime(2024, 1, 2, tzinfo=UTC)], pl.Datetime("us", "UTC")),
        ([[1, 2], []], pl.List(pl.Int64())),
        ([[date(1, 1, 1)]], pl.List(pl.Date())),
        ([1, "a", 2.5, True, date(2024, 1, 1), datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC), None], VARIANT),
        ([[], []], VARIANT),
        ([[1, "a"], [1.5, True]], VARIANT),
        ([Written(ValueKind.DURATION, "P1M"), Written(ValueKind.TIME, "10:00Z")], VARIANT),
        ([[Written(ValueKind.DURATION, "P1D"), date(2024, 1, 1), datetime(2024, 1, 1), "x"]], VARIANT),
        ([[datetime(2024, 1, 1, 5, tzinfo=UTC), 1]], VARIANT),
        ([-(2**63), 2**63 - 1], pl.Int64()),
    ],
)
def test_values_keep_their_type_through_columns(values, dtype):
    graph = MutableGraph()
    for value in values:
        graph.create_node(("N",), {"v": value})
    frozen = freeze(graph).graph
    assert frozen.node_columns["v"].segments[0].series.dtype == dtype
    back = [node.properties.get("v") for node in frozen.mutable().nodes.values()]
    assert back == values
    assert [type(one) for one in back] == [type(one) for one in values]


_VALUES = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    st.dates(),
    st.datetimes(),
    st.lists(st.integers(0, 3), max_size=2),
    st.lists(st.one_of(st.integers(0, 3), st.text(max_size=1), st.dates()), max_size=3),
)
_PROPERTIES = st.dictionaries(st.sampled_from("abc"), _VALUES, max_size=3)
_LABELS = st.lists(st.sampled_from(("A", "B", "C")), max_size=2, unique=True)


@st.composite
def graphs(draw):
    nodes = draw(st.lists(st.tuples(_LABELS, _PROPERTIES), max_size=6))
    ends = st.integers(0, max(len(nodes) - 1, 0))
    made = st.tuples(st.sampled_from(("R", "S")), ends, ends, _PROPERTIES)
    return MutableGraph.filled(nodes, draw(st.lists(made, max_size=8)) if nodes else [])


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_freezing_keeps_every_node_and_relationship(graph):
    frozen = freeze(graph)
    found = frozen.graph
    properties = node_properties(found, np.arange(found.node_count))
    for place, one in enumerate(frozen.node_ids.tolist()):
        group = next(group for group in found.groups if group.first <= place < group.stop)
        assert group.labels == graph.nodes[one].labels
        assert properties[place] == graph.nodes[one].properties
    known = relationship_properties(found, np.arange(found.relationship_count))
    for table in found.relationships.values():
        for row in range(len(table.sources)):
            one = graph.relationships[int(frozen.relationship_ids[table.first + row])]
            ends = (int(frozen.node_ids[table.sources[row]]), int(frozen.node_ids[table.targets[row]]))
            assert (one.type, one.source, one.target) == (table.type, *ends)
            assert known[table.first + row] == one.properties


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_a_frozen_graph_made_mutable_again_freezes_to_the_same(graph):
    once = freeze(graph).graph
    twice = freeze(once.mutable())
    assert twice.graph.groups == once.groups
    assert twice.node_ids.tolist() == list(range(once.node_count))
    for key, column in once.node_columns.items():
        again = twice.graph.node_columns[key]
        assert [segment.first for segment in again.segments] == [segment.first for segment in column.segments]
        assert all(one.series.equals(other.series) for one, other in zip(column.segments, again.segments, strict=True))
    for name, table in once.relationships.items():
        assert twice.graph.relationships[name].sources.tolist() == table.sources.tolist()
        assert twice.graph.relationships[name].targets.tolist() == table.targets.tolist()
