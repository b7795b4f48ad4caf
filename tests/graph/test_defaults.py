"""Default properties of relationships, and rules that nothing in the vault goes by."""

from datetime import date, datetime

import pytest

from vaultgraph.graph.columns import VARIANT
from vaultgraph.graph.defaults import as_variants, with_defaults
from vaultgraph.graph.unmet import unmet
from vaultgraph.profile.settings import Hub, Profile, TagLabel

NODES = [(("Note",), {"id": name}) for name in "abcd"]


@pytest.fixture
def filled(make_graph):
    """The values of a property in the order of the rows, and the dtype of its column."""

    def run(values, default, key="p"):
        rows = [(0, "R", at, {} if value is None else {key: value}) for at, value in enumerate(values)]
        graph = with_defaults(make_graph(NODES, rows), Profile(edge_defaults={"R": {key: default}}))
        (segment,) = graph.relationships["R"].columns[key].segments
        return segment.series

    return run


def plain(cell):
    return next((cell[name] for name in ("text", "number", "real") if cell[name] is not None), None)


@pytest.mark.parametrize("default", ["x", 3, 2.5, True])
def test_a_property_that_no_relationship_has_is_the_same_for_all(filled, default):
    found = filled([None, None, None], default).to_list()
    assert found == [default] * 3
    assert {type(value) for value in found} == {type(default)}


def test_a_value_is_never_replaced(filled):
    assert filled([7, None, 0], 3).to_list() == [7, 3, 0]
    assert filled(["", None, "x"], "y").to_list() == ["", "y", "x"]
    assert filled([1, 2, 3], "y").to_list()[0]["number"] == 1


def test_cells_of_another_type_keep_their_own(filled):
    found = filled([7, None, 0], "x")
    assert found.dtype == VARIANT
    assert [plain(cell) for cell in found.to_list()] == [7, "x", 0]
    assert [plain(cell) for cell in filled([7, "a", None], 2.5).to_list()] == [7, "a", 2.5]


def test_other_types_properties_and_other_properties_stay(make_graph):
    rows = [(0, "R", 1, {"line": 4}), (0, "S", 1, {})]
    graph = with_defaults(make_graph(NODES, rows), Profile(edge_defaults={"R": {"z": 1, "a": "x"}, "NONE": {"a": 1}}))
    assert list(graph.relationships["R"].columns) == ["a", "line", "z"]
    assert graph.relationships["R"].columns["line"].segments[0].series.to_list() == [4]
    assert graph.relationships["S"].columns == {}
    assert list(graph.relationships) == ["R", "S"]


def test_every_type_of_column_can_hold_other_cells():
    import polars as pl

    series = {
        "date": pl.Series([date(1970, 1, 3), None]),
        "moment": pl.Series([datetime(1970, 1, 1, 0, 0, 1), None], dtype=pl.Datetime("us")),
        "flag": pl.Series([True, None]),
        "real": pl.Series([1.5, None]),
        "list": pl.Series([["a", 'b"'], None]),
    }
    found = {name: as_variants(values).to_list() for name, values in series.items()}
    assert {name: plain(cells[0]) for name, cells in found.items()} == {
        "date": 2,
        "moment": 1_000_000,
        "flag": 1,
        "real": 1.5,
        "list": '["a","b\\""]',
    }
    assert all(cells[1]["kind"] == 0 for cells in found.values())


def test_defaults_are_in_the_built_graph_and_its_file(build):
    profile = Profile(edge_defaults={"LINKS_TO": {"weight": 1, "line": 99}})
    found = build({"a.md": {"links": ["[[b]]"]}, "b.md": {}}, profile)
    ((source, target, weight, line),) = found.relationships("LINKS_TO", "weight", "line")
    assert (source, target, weight) == ("a.md", "b.md", 1)
    assert line != 99


def messages(graph, profile):
    return [(row[3], row[4]) for frame in unmet(graph, profile) for row in frame.rows()]


def test_a_rule_that_nothing_goes_by_is_a_problem(make_graph):
    nodes = [(("Boat", "Note"), {"id": "a", "length": 3})]
    profile = Profile(
        edge_defaults={"OWNS": {"since": 1}, "R": {"x": 1}},
        indexes={"Boat": ("length", "lenght"), "Ship": ("id",)},
        types={"Boat": {"length": "int", "built": "date"}, "Note": {"length": "int"}},
    )
    graph = make_graph(nodes, [(0, "R", 0, {})])
    assert messages(graph, profile) == [
        ("warning", "edge_defaults.OWNS: there is no relationship of this type. Check the spelling."),
        ("warning", "indexes.Boat: no node with this label has the property 'lenght'. Check the spelling."),
        ("warning", "indexes.Ship: no node with this label has the property 'id'. Check the spelling."),
        ("info", "types.Boat.built: no node with this label has the property. Check the spelling."),
    ]
    assert unmet(graph, Profile()) == []


def test_rules_for_texts_tags_headings_and_tables_that_nothing_goes_by_are_problems(make_graph):
    profile = Profile(
        hubs={"writer": Hub("Author", "WRITTEN_BY"), "writr": Hub("Author", "WRITTEN_BY")},
        tag_labels={"topic": TagLabel("Topic", "IS_ABOUT"), "intent": TagLabel("Intent", "R")},
        heading_edges={"sources": "CITES", "see also": "R"},
        edge_tables={"R": "Crew", "SAILED": "Crew"},
    )
    graph = make_graph([(("Note",), {"id": "a", "writer": "Ada"})], [(0, "R", 0, {})])
    assert messages(graph, profile) == [
        ("warning", "hubs.writr: no note has this property. Check the spelling."),
        ("warning", "tag_labels.topic/*: no note has a tag below this prefix. Check the spelling."),
        ("warning", "heading_edges.sources: no link is below such a heading. Check the spelling."),
        ("warning", "export.edge_tables.SAILED: there is no relationship of this type. Check the spelling."),
    ]


def test_rules_without_effect_are_in_the_problems_of_a_build(build):
    found = build({"a.md": {}}, Profile(edge_defaults={"OWNS": {"since": 1}}))
    assert found.problems("unused-rule") == [(".kglite/vault.yaml", None)]
