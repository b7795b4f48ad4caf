"""Nodes and relationships that no note states become notes, keys and tables."""

import json
from datetime import date, datetime

import polars as pl
import pytest
import yaml

from vaultgraph.errors import ExportError
from vaultgraph.export.columns import json_texts
from vaultgraph.export.owned import check_out, write_plan
from vaultgraph.export.rules import profile_of, with_table_rules
from vaultgraph.export.vault import Source, plan_vault
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.graph import Graph, NodeGroup
from vaultgraph.graph.schema import schema_of
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

NODES = [
    (("Person", "Note"), {"id": "Ada", "title": "Ada", "born": date(1815, 12, 10), "tags": ["maths", "poetry"]}),
    (("Person", "Note"), {"id": "Bo/b?", "title": "Bob", "age": 4, "height": 1.5, "seen": datetime(2026, 5, 1, 9, 30)}),
    (("Book", "Note"), {"id": "Notes", "path": "Books/Notes.md", "title": "Notes", "body": "Text with [[Ada]].\n"}),
    (("Tag",), {"id": "maths", "title": "maths"}),
]
RELATIONSHIPS = [
    (0, "KNOWS", 1, {}),
    (0, "RECORDED_BY", 1, {"since": 1840, "how": "letter|post"}),
    (0, "RECORDED_BY", 2, {}),
    (2, "LINKS_TO", 0, {}),
    (0, "TAGGED", 3, {}),
]


@pytest.fixture
def built(make_graph, plan_of_graph, tmp_path, read):
    def run(nodes=NODES, relationships=RELATIONSHIPS, **more):
        plan = plan_of_graph(make_graph(nodes, relationships), **more)
        out = check_out(tmp_path / "out", None)
        write_plan(plan, out)
        return plan, read(out).graph

    return run


def test_nodes_become_notes_with_their_properties(built):
    plan, _ = built()
    assert sorted(path for path in plan.files if path.endswith(".md")) == [
        "Books/Notes.md",
        "Person/Ada.md",
        "Person/Bo-b-.md",
    ]
    assert plan.files["Person/Bo-b-.md"].decode() == (
        "---\nid: Bo/b?\ntitle: Bob\nage: 4\nheight: 1.5\nseen: 2026-05-01T09:30:00\n---\n"
    )
    assert plan.files["Books/Notes.md"].decode().endswith("---\nText with [[Ada]].\n")
    assert plan.files["Books/Notes.md"].decode().startswith("---\ntype: Book\ntitle: Notes\n")


def test_relationships_become_wikilinks_under_keys(built):
    plan, graph = built()
    assert plan.files["Person/Ada.md"].decode() == (
        "---\nborn: 1815-12-10\ntags:\n  - maths\n  - poetry\nknows: \"[[Person/Bo-b-]]\"\nrecorded_by:\n"
        '  - "[[Person/Bo-b-]]"\n  - "[[Books/Notes]]"\n---\n'
    )  # fmt: skip
    types = schema_of(graph).relationship_types
    assert (types["KNOWS"], types["RECORDED_BY"], types["LINKS_TO"]) == (1, 2, 1)


def test_a_relationship_the_body_states_is_not_written_again(built):
    plan, _ = built()
    assert b"links_to" not in plan.files["Books/Notes.md"]


def test_what_a_key_cannot_carry_is_reported(built):
    plan, _ = built()
    report = plan.report()
    assert "relationship-lost" not in report
    assert "node-lost" not in report
    # `since` and `how` of one relationship; the other two carry nothing that could be lost
    assert report["relationship-property-differs"]["count"] == 1
    assert "KNOWS: property" in report["relationship-property-added"]["examples"]


def test_relationships_with_a_heading_become_a_table_with_a_rule(built):
    plan, graph = built(tables={"RECORDED_BY": "Recorded by (all)"})
    note = plan.files["Person/Ada.md"].decode()
    assert "recorded_by" not in note
    assert note.endswith(
        "---\n\n## Recorded by (all)\n\n| note | how | since |\n| --- | --- | --- |\n"
        "| [[Person/Bo-b-]] | letter\\|post | 1840 |\n| [[Books/Notes]] |  |  |\n"
    )
    assert schema_of(graph).relationship_types["RECORDED_BY"] == 2
    assert "relationship-lost" not in plan.report()
    rules = yaml.safe_load(plan.files[".kglite/vault.yaml"])["structure"]["tables"]
    assert rules == [{"under_heading": r"^Recorded by \(all\)$", "edge": "RECORDED_BY", "edges": True}]


def test_an_exported_graph_is_a_fixed_point_from_then_on(built, tmp_path, read):
    plan, _ = built(tables={"RECORDED_BY": "Recorded by"})
    source = read(tmp_path / "out")
    again = plan_vault(source)
    assert {path: again.files[path] for path in plan.files} == dict(plan.files)


def test_a_key_that_is_taken_is_spelled_another_way(built):
    nodes = [
        (("P", "Note"), {"id": "a", "title": "a", "knows": "nobody"}),
        (("P", "Note"), {"id": "b", "title": "b"}),
        (("P", "Note"), {"id": "c", "title": "c", "type": "P"}),
    ]
    plan, graph = built(nodes, [(0, "KNOWS", 1, {}), (1, "TYPE", 0, {}), (2, "TAGS", 0, {})])
    assert plan.files["P/a.md"].decode() == '---\nknows: nobody\nKnows: "[[P/b]]"\n---\n'
    assert set(schema_of(graph).relationship_types) >= {"KNOWS", "TYPE", "TAGS"}
    assert schema_of(graph).labels["P"] == 3


def test_names_that_come_out_equal_are_told_apart(built):
    nodes = [(("P", "Note"), {"id": name, "title": "t"}) for name in ("a/b", "a:b", "A?B")]
    plan, graph = built(nodes, [(0, "KNOWS", 1, {}), (1, "KNOWS", 2, {})])
    notes = sorted(path for path in plan.files if path.endswith(".md"))
    assert notes == ["P/A-B~2.md", "P/a-b.md", "P/a-b~1.md"]
    assert schema_of(graph).relationship_types["KNOWS"] == 2


def test_strange_ids_and_labels_make_harmless_names(built, tmp_path):
    names = ["../../etc/passwd", "/abs", "..", ".git", "venv", "C:\\x", "a\0b", "x" * 500, "", "[[y]]", "ｗ\u2028"]
    nodes = [((name, "Note"), {"id": name, "title": "t"}) for name in names]
    relationships = [(len(names), "KNOWS", at, {}) for at in range(len(names))]
    plan, graph = built([*nodes, (("P", "Note"), {"id": "b"})], relationships)
    notes = [path for path in plan.files if path.endswith(".md")]
    assert len(notes) == len(names) + 1
    assert all(not path.startswith(("/", ".")) and ".." not in path.split("/") for path in notes)
    assert schema_of(graph).relationship_types["KNOWS"] == len(names)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "path", ["../x.md", "/x.md", "a/../../x.md", ".git/x.md", "a//x.md", "a\0.md", "venv/x.md", "x" * 300 + ".md"]
)
def test_a_path_that_leads_elsewhere_is_refused(make_graph, plan_of_graph, path):
    graph = make_graph([(("P", "Note"), {"id": "x", "path": path})], [])
    with pytest.raises(ExportError, match="nothing was exported"):
        plan_of_graph(graph)


def test_a_configuration_that_is_none_is_refused(make_graph):
    from vaultgraph.note.records import empty_records

    for path in ("../vault.yaml", ".kglite/../x", ".kglite/export.json", ".kglite/graph.kgl", "x.yaml"):
        with pytest.raises(ExportError):
            plan_vault(Source(empty_records(), make_graph([], []), {path: ""}))


def test_every_kind_of_value_comes_back(built):
    values = {
        "text": "yes", "number": -3, "real": 2.5, "flag": True, "day": date(2026, 1, 2),
        "moment": datetime(2026, 1, 2, 3, 4, 5), "many": ["a", "b: c"], "numbers": [1, 2], "none": [],
    }  # fmt: skip
    nodes = [(("P", "Note"), {"id": "a", "title": "a"} | values)]
    plan, graph = built(nodes, [])
    differing = plan.report().get("property-differs", {"examples": []})["examples"]
    assert [line for line in differing if line.split(": ")[1] in values] == []
    assert graph.node_columns["moment"].segments[0].series.to_list() == [values["moment"]]


def test_relationships_added_to_notes_leave_their_text_alone(write, make_graph, read):
    folder = write({"a.md": "---\nk: 1\n---\nText\n", "b.md": "B\n"})
    source = read(folder)
    nodes = [(("Note",), {"id": "a", "path": "a.md"}), (("Note",), {"id": "b", "path": "b.md"})]
    graph = make_graph(nodes, [(0, "SEES", 1, {}), (1, "SEES", 0, {})])
    plan = plan_vault(Source(source.records, graph, {}))
    assert plan.files["a.md"] == b'---\nk: 1\nsees: "[[b]]"\n---\nText\n'
    assert plan.files["b.md"] == b'---\nsees: "[[a]]"\n---\nB\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kglite_vault: 1\ndefault_label: X # remark",
        "kglite_vault: 1\nstructure:\n  # remark\n  chunks: {max_words: 9}\nskip_dirs: [x]\n",
        "kglite_vault: 1\nstructure:\n  tables:\n  - {under_heading: Old, edge: OLD, edges: true}\n",
        "kglite_vault: 1\nstructure:\n    tables:\n      - under_heading: O\n        edge: OLD\n        edges: true\n",
        "{kglite_vault: 1, structure: {tables: []}}",
        "kglite_vault: 1\nstructure: {}\n",
        "kglite_vault: 1\nstructure:\n",
    ],
)
def test_a_rule_is_added_to_any_configuration(text):
    path = ".kglite/vault.yaml"
    changed = with_table_rules({path: text} if text else {}, Profile(), {"SEES": "It's seen"})
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed[path])
    rules = after["structure"].pop("tables")
    assert rules[0 if "edges" in text and "{under" not in text else -1]["edge"] in {"SEES", "OLD"}
    assert {"under_heading": "^It's seen$", "edge": "SEES", "edges": True} in rules
    old = (before.get("structure") or {}).pop("tables", [])
    assert [rule for rule in rules if rule["edge"] == "OLD"] == old
    assert {**before, "kglite_vault": 1, "structure": before.get("structure") or {}} == after
    assert ("# remark" in changed[path]) is ("# remark" in text)
    profile_of(changed)


def test_a_note_that_would_not_be_read_is_reported_as_lost(built):
    plan, graph = built(
        [(("drafts", "Note"), {"id": "a", "title": "a"})], [], yaml="kglite_vault: 1\nskip_dirs: [drafts]\n"
    )
    assert graph.node_count == 0
    assert plan.report()["node-lost"]["examples"] == ["drafts/a.md  (Note:drafts)"]


def test_times_and_durations_that_queries_made_are_written_as_text(plan_of_graph):
    cells = [
        (ValueKind.DURATION, "P1Y2M"),
        (ValueKind.ZONED_DATETIME, "2026-05-01T09:30:00+02:00"),
        (ValueKind.TIME, "09:30:00Z"),
        (
            ValueKind.LIST,
            json.dumps([[ValueKind.DATE, "2026-05-01"], [ValueKind.JSON, "4"], [ValueKind.DURATION, "P1D"]]),
        ),
    ]
    values = [{"kind": int(kind), "number": None, "real": None, "text": text} for kind, text in cells]
    ids = pl.Series([str(number) for number in range(len(cells))])
    graph = Graph(
        len(cells),
        (NodeGroup(("P", "Note"), 0, len(cells)),),
        {"id": Column((Segment(0, ids),)), "v": Column((Segment(0, pl.Series(values, dtype=VARIANT)),))},
        {},
    )
    plan = plan_of_graph(graph)
    written = [plan.files[f"P/{number}.md"].decode() for number in range(len(cells))]
    assert written == [
        "---\nv: P1Y2M\n---\n",
        "---\nv: 2026-05-01T07:30:00Z\n---\n",
        "---\nv: 09:30:00Z\n---\n",
        "---\nv:\n  - 2026-05-01\n  - 4\n  - P1D\n---\n",
    ]
    assert json.loads(json_texts(pl.Series(values, dtype=VARIANT))[3]) == ["2026-05-01", 4, "P1D"]
