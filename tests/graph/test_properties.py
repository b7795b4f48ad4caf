"""Frontmatter as columns: typed segments, cells of different types, and declared types."""

import datetime as dt

import polars as pl
import pytest

from vaultgraph.graph.columns import VARIANT
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.properties import GAP, property_segments
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

DAY = dt.date(2024, 2, 29)
LOCAL = dt.datetime(2024, 2, 29, 10, 30)
UTC = dt.datetime(2024, 2, 29, 10, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("text", pl.String()),
        (3, pl.Int64()),
        (2.5, pl.Float64()),
        (True, pl.Boolean()),
        (DAY, pl.Date()),
        (LOCAL, pl.Datetime("us")),
        (UTC, pl.Datetime("us", "UTC")),
        (dt.datetime(1905, 1, 1, 1, 2, 3, 4), pl.Datetime("us")),
        (["a", "b"], pl.List(pl.String)),
        ([1, 2], pl.List(pl.Int64)),
        ([DAY], pl.List(pl.Date)),
        ([], pl.List(pl.String)),
    ],
)
def test_cells_of_one_kind_are_a_typed_segment(build, value, dtype):
    found = build({"a.md": {"props": {"k": value}}, "b.md": {}, "c.md": {"props": {"k": value}}})
    (segment,) = found.graph.node_columns["k"].segments
    assert segment.series.dtype == dtype
    assert found.cells("k") == [value, None, value]


def test_an_empty_list_is_a_list_of_the_label_s_type(build):
    found = build({"a.md": {"props": {"k": [1]}}, "b.md": {"props": {"k": []}}, "c.md": {}})
    assert found.graph.node_columns["k"].segments[0].series.dtype == pl.List(pl.Int64)
    assert found.cells("k") == [[1], [], None]


def test_cells_that_differ_keep_their_own_type(build):
    values = [3, "3", 2.5, True, DAY, [1, "x"], ["a"], [], None]
    vault = {f"{i}.md": {"props": {"k": value} if value is not None else {}} for i, value in enumerate(values)}
    found = build(vault)
    (segment,) = found.graph.node_columns["k"].segments
    assert segment.series.dtype == VARIANT
    assert found.cells("k") == [3, "3", 2.5, True, DAY, 'json [1,"x"]', 'json ["a"]', "json []", None]
    assert segment.series.null_count() == 0  # a missing cell is of kind 0


def test_integers_and_floats_in_one_label_stay_what_they_are(build):
    found = build({"a.md": {"props": {"k": 1}}, "b.md": {"props": {"k": 1.5}}})
    kinds = found.graph.node_columns["k"].segments[0].series.struct.field("kind").to_list()
    assert kinds == [ValueKind.INTEGER, ValueKind.FLOAT]


def test_list_items_that_differ_are_json_with_quotes_escaped(build):
    found = build({"a.md": {"props": {"k": ['say "hi"\n', 1, 2.5, True, DAY, LOCAL]}}})
    assert found.cells("k") == ['json ["say \\"hi\\"\\n",1,2.5,true,"2024-02-29","2024-02-29T10:30:00"]']


def test_labels_of_one_type_share_a_segment_and_others_do_not(build):
    vault = {
        "A/1.md": {"props": {"k": "x"}},
        "B/2.md": {"props": {"k": "y"}},
        "C/3.md": {"props": {"k": 3}},
        "D/4.md": {"props": {"k": "z"}},
    }
    found = build(vault)
    segments = found.graph.node_columns["k"].segments
    assert [(s.first, s.stop, str(s.series.dtype)) for s in segments] == [
        (0, 2, "String"),
        (2, 3, "Int64"),
        (3, 4, "String"),
    ]


def test_a_segment_covers_its_whole_label(build):
    vault = {f"A/{i}.md": {} for i in range(5)} | {"A/2.md": {"props": {"k": 1}}, "B/1.md": {}}
    (segment,) = build(vault).graph.node_columns["k"].segments
    assert (segment.first, segment.stop) == (0, 5)


def test_a_rare_property_is_cut_at_long_gaps():
    far = 10 * GAP
    rows = pl.DataFrame(
        {"node": [1, 3, far], "key": ["k"] * 3, "ordinal": [-1] * 3, "number": [7, 8, 9]},
        schema_overrides={"node": pl.Int64, "ordinal": pl.Int32},
    ).with_columns(kind=pl.lit(2, pl.UInt8), real=pl.lit(None, pl.Float64), text=pl.lit(None, pl.String))
    segments = property_segments(rows, (NodeGroup(("Note",), 0, 20 * GAP),))["k"]
    assert [(s.first, s.stop) for s in segments] == [(0, 4), (far, far + 1)]
    assert segments[0].series.to_list() == [None, 7, None, 8]


def test_a_gap_near_the_next_cell_makes_segments_meet_without_overlap():
    rows = pl.DataFrame(
        {"node": [0, GAP + 1], "key": ["k"] * 2, "ordinal": [-1] * 2, "number": [7, 9]},
        schema_overrides={"node": pl.Int64, "ordinal": pl.Int32},
    ).with_columns(kind=pl.lit(2, pl.UInt8), real=pl.lit(None, pl.Float64), text=pl.lit(None, pl.String))
    segments = property_segments(rows, (NodeGroup(("Note",), 0, GAP + 10),))["k"]
    assert [(s.first, s.stop) for s in segments] == [(0, 1), (GAP + 1, GAP + 10)]


def test_reserved_lists_are_lists_of_texts_however_they_are_written(build):
    vault = {
        "a.md": {"props": {"tags": "one", "aliases": 7}},
        "b.md": {"props": {"tags": ["x", 2020], "aliases": ["q"]}},
    }
    found = build(vault)
    assert found.cells("tags")[:2] == [["one"], ["x", "2020"]]
    assert found.cells("aliases")[:2] == [["7"], ["q"]]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int", "12", 12),
        ("int", " -3 ", -3),
        ("int", 4.0, 4),
        ("float", "1.5e3", 1500.0),
        ("float", 2, 2.0),
        ("string", 12, "12"),
        ("string", DAY, "2024-02-29"),
        ("string", True, "true"),
        ("string", LOCAL, "2024-02-29T10:30:00"),
        ("string", UTC, "2024-02-29T10:30:00Z"),
        ("bool", "Yes", True),
        ("bool", "false", False),
        ("date", "2024-02-29", DAY),
        ("date", LOCAL, DAY),
        ("date", dt.datetime(1960, 1, 1, 5), dt.date(1960, 1, 1)),
        ("datetime", DAY, dt.datetime(2024, 2, 29)),
        ("datetime", "2024-02-29", dt.datetime(2024, 2, 29)),
        ("datetime", "2024-02-29 10:30", LOCAL),
        ("datetime", "2024-02-29T10:30:00", LOCAL),
        ("datetime", "2024-02-29T10:30:00Z", UTC),
        ("datetime", "2024-02-29T12:30:00.5+02:00", UTC.replace(microsecond=500000)),
        ("datetime", UTC, UTC),
        ("list", "one", ["one"]),
        ("list", ["one"], ["one"]),
        ("int", ["1", "2"], [1, 2]),
        ("int", [], []),
    ],
)
def test_a_declared_type_converts_cells(build, kind, value, expected):
    found = build({"T/a.md": {"props": {"k": value}}}, Profile(types={"T": {"k": kind}}))
    assert found.cells("k")[0] == expected
    assert found.problems("type-mismatch") == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "abc"),
        ("int", 1.5),
        ("int", True),
        ("int", "99999999999999999999999"),
        ("int", 1e300),
        ("float", "x"),
        ("bool", 1),
        ("date", "2024-02-30"),
        ("date", 5),
        ("datetime", "soon"),
        ("datetime", 5),
    ],
)
def test_a_cell_that_cannot_be_converted_stays_as_written_and_is_reported(build, kind, value):
    found = build({"T/a.md": {"props": {"k": value}}}, Profile(types={"T": {"k": kind}}))
    assert found.cells("k")[0] == value
    assert found.problems("type-mismatch") == [("T/a.md", 2)]
    problem = found.built.problems.row(0, named=True)
    assert problem["severity"] == "warning"
    assert problem["message"].startswith(f"T.k is declared {kind}, but '")


def test_a_list_that_is_half_convertible_keeps_its_order(build):
    found = build({"T/a.md": {"props": {"k": ["1", "x", "3"]}}}, Profile(types={"T": {"k": "int"}}))
    assert found.cells("k")[0] == 'json [1,"x",3]'


def test_types_of_the_note_label_go_for_every_note_after_those_of_the_specific_label(build):
    profile = Profile(types={"Note": {"k": "int"}, "T": {"k": "string"}})
    found = build({"T/a.md": {"props": {"k": 5}}, "b.md": {"props": {"k": "6"}}}, profile)
    assert (found.properties("T/a.md")["k"], found.properties("b.md")["k"]) == ("5", 6)
    assert build({"T/a.md": {"props": {"k": "6"}}}, Profile(types={"Note": {"k": "int"}})).cells("k")[0] == 6


def test_cells_of_several_types_that_are_refused_are_all_told(build):
    vault = {f"f/{name}.md": {"props": {"rating": "high", "size": 5.5, "due": "soon"}} for name in "ab"}
    types = {"f": {"rating": "int", "size": "int", "due": "datetime"}}
    answers = build(vault, profile=Profile(types=types))
    assert answers.problems("type-mismatch") == [(f"f/{name}.md", line) for name in "ab" for line in (2, 3, 4)]
