"""Equality, comparison, order, grouping and names of query values."""

import math
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.incoming import engine_value
from vaultgraph.cypher.values import (
    Node,
    NodeRef,
    Path,
    PathRef,
    Refusal,
    Relationship,
    RelationshipRef,
    compare,
    equals,
    group_key,
    less,
    materialize,
    materialize_all,
    order_key,
    type_name,
)
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable

NAN = math.nan


@pytest.fixture
def graph() -> Graph:
    """Two people and a tag; one KNOWS relationship; ages of different types."""
    sources, targets = np.array([0], dtype=np.uint32), np.array([1], dtype=np.uint32)
    ages = [
        {"kind": 2, "number": 41, "real": None, "text": None},
        {"kind": 1, "number": None, "real": None, "text": "unknown"},
    ]
    knows = RelationshipTable(
        "KNOWS",
        0,
        sources,
        targets,
        build_csr(sources, targets),
        build_csr(targets, sources),
        {"since": Column((Segment(0, pl.Series([date(2020, 1, 2)])),))},
    )
    return Graph(
        3,
        (NodeGroup(("Person", "Note"), 0, 2), NodeGroup(("Tag",), 2, 3)),
        {
            "title": Column((Segment(0, pl.Series(["Ada", "Bob", "maths"])),)),
            "age": Column((Segment(0, pl.Series(ages, dtype=VARIANT)),)),
        },
        {"KNOWS": knows},
    )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1, 1.0, True),
        (2**53 + 1, float(2**53), False),
        ("a", 1, False),
        (True, 1, False),
        (None, None, None),
        (None, 1, None),
        (NAN, NAN, False),
        ([1, 2], [1], False),
        ([None], [1], None),
        ([[1], [2, 3]], [[1], [None]], False),
        ([[1], [2]], [[1], [None]], None),
        ([1, 2], "foo", False),
        ({}, {"k": None}, False),
        ({"k": None}, {"k": None}, None),
        ({"k": 1, "l": None}, {"k": None, "l": 1}, None),
        ({"k": 1.0}, {"k": 1}, True),
        (date(2026, 1, 1), datetime(2026, 1, 1), False),
        (datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC), False),
        (NodeRef(1), NodeRef(1), True),
        (NodeRef(1), RelationshipRef(1), False),
        (PathRef((0, 1), (4,)), PathRef((0, 1), (4,)), True),
        (Duration(days=1), Duration(seconds=86_400), False),
    ],
)
def test_equality_follows_three_valued_logic(left: object, right: object, expected: bool | None) -> None:
    assert equals(left, right) is expected
    assert equals(right, left) is expected
    assert compare("<>", left, right) is (None if expected is None else not expected)


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("<", 1, 3.14, True),
        (">=", 3.14, 1, True),
        ("<", "1", 1, None),
        ("<", 1, None, None),
        ("<", NAN, 1, False),
        (">=", NAN, NAN, False),
        (">", NAN, "a", None),
        (">=", [1, 0], [1], True),
        (">=", [1, None], [1], True),
        (">=", [1, 2], [1, None], None),
        (">=", [1, 2], [3, None], False),
        (">=", [1, "a"], [1, None], None),
        ("<", False, True, True),
        ("<", date(2026, 1, 1), date(2026, 1, 2), True),
        ("<", date(2026, 1, 1), datetime(2026, 1, 2), None),
        ("<", datetime(2026, 1, 1), datetime(2026, 1, 2, tzinfo=UTC), None),
        ("<", NodeRef(1), NodeRef(2), None),
        ("<", {"a": 1}, {"a": 2}, None),
        ("<", Duration(days=1), Duration(days=2), None),
        ("<", 2**53, float(2**53) + 2, True),
        (">", 2**53 + 1, float(2**53), True),
    ],
)
def test_comparison_of_what_has_no_order_is_null(operator: str, left: object, right: object, expected: object) -> None:
    assert compare(operator, left, right) is expected


def test_less_is_the_strict_order() -> None:
    assert less("a", "b") is True
    assert less("b", "b") is False


def test_order_across_types_is_total_and_ends_with_null() -> None:
    ascending: list[object] = [
        {"a": 1},
        {"a": 2},
        {"b": 0},
        NodeRef(1),
        NodeRef(2),
        RelationshipRef(0),
        [],
        ["a"],
        ["a", 1],
        [1],
        [1, "a"],
        [1, None],
        [None, 1],
        PathRef((0,), ()),
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2025, 1, 1),
        date(2024, 1, 1),
        Duration(days=30),
        Duration(months=1),
        "",
        "B",
        "a",
        False,
        True,
        -math.inf,
        -1,
        0.5,
        1,
        NAN,
        None,
    ]
    keys = [order_key(value) for value in ascending]
    assert all(one < other for one, other in pairwise(keys))
    assert order_key(1) == order_key(1.0)


def test_grouping_puts_equal_values_together() -> None:
    assert group_key(1) == group_key(1.0)
    assert group_key(True) != group_key(1)
    assert group_key(NAN) == group_key(float("nan"))
    assert group_key(None) == group_key(None)
    assert group_key([1, {"a": None}]) == group_key([1.0, {"a": None}])
    assert group_key({"a": 1, "b": 2}) == group_key({"b": 2, "a": 1})
    assert group_key("1") != group_key(1)
    assert group_key(NodeRef(1)) != group_key(RelationshipRef(1))
    assert len({group_key(value) for value in ([], {}, None, "", 0, False)}) == 6


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "NULL"),
        (True, "BOOLEAN"),
        (1, "INTEGER"),
        (1.5, "FLOAT"),
        ("", "STRING"),
        ([], "LIST"),
        ({}, "MAP"),
        (NodeRef(0), "NODE"),
        (RelationshipRef(0), "RELATIONSHIP"),
        (PathRef((0,), ()), "PATH"),
        (date(2026, 1, 1), "DATE"),
        (datetime(2026, 1, 1), "LOCAL DATETIME"),
        (datetime(2026, 1, 1, tzinfo=UTC), "ZONED DATETIME"),
        (Duration(), "DURATION"),
    ],
)
def test_every_type_has_a_name(value: object, name: str) -> None:
    assert type_name(value) == name


def test_values_from_outside_become_engine_values() -> None:
    berlin = timezone(timedelta(hours=1))
    given: dict[str, object] = {"a": (1, [2.5]), "b": datetime(2026, 1, 1, tzinfo=berlin), "c": Node(4, (), {})}
    assert engine_value(given) == {"a": [1, [2.5]], "b": datetime(2025, 12, 31, 23, tzinfo=UTC), "c": NodeRef(4)}


@pytest.mark.parametrize("value", [2**63, {1: "a"}, {1, 2}, [b"bytes"], object()])
def test_what_no_query_can_hold_is_refused(value: object) -> None:
    with pytest.raises(Refusal):
        engine_value(value)


def test_references_become_public_values_at_any_depth(graph: Graph) -> None:
    ada = Node(0, ("Person", "Note"), {"title": "Ada", "age": 41})
    bob = Node(1, ("Person", "Note"), {"title": "Bob", "age": "unknown"})
    knows = Relationship(0, "KNOWS", 0, 1, {"since": date(2020, 1, 2)})
    value = {"path": PathRef((0, 1), (0,)), "list": [NodeRef(1), None, 3]}
    assert materialize(value, graph) == {"path": Path((ada, bob), (knows,)), "list": [bob, None, 3]}


def test_materialising_many_values_makes_each_entity_once(graph: Graph) -> None:
    first, second, plain = materialize_all([NodeRef(2), [NodeRef(2)], "text"], graph)
    assert first == Node(2, ("Tag",), {"title": "maths"})
    assert isinstance(second, list)
    assert second[0] is first
    assert plain == "text"
