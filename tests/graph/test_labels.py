"""Labels, ids and built-in properties of notes, and the order of nodes."""

import datetime as dt

import pytest

from vaultgraph.profile.settings import Profile

NOTE = ("Note",)


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ("Person", ("Person", "Note")),
        ("  Person ", ("Person", "Note")),
        (["Person", "Writer"], ("Person", "Note")),
        ("[[Book]]", ("Book", "Note")),
        (["[[lib/Book.md#x|the book]]", "[[Other]]"], ("Book", "Note")),
        ("see [[Book]]", ("Book", "Note")),
        ("Note", NOTE),
        ("插件 🗂️", ("插件 🗂️", "Note")),
        ("", ("top", "Note")),
        ([], ("top", "Note")),
        (5, ("top", "Note")),
        (True, ("top", "Note")),
        (dt.date(2020, 1, 1), ("top", "Note")),
    ],
)
def test_the_type_property_gives_the_label(build, value, labels):
    assert build({"top/a.md": {"props": {"type": value}}}).labels("top/a.md") == labels


def test_type_goes_before_the_default_label_before_the_top_folder(build):
    vault = {"a.md": {}, "top/sub/b.md": {}, "top/c.md": {"props": {"type": "T"}}}
    plain = build(vault)
    assert [plain.labels(name) for name in vault] == [NOTE, ("top", "Note"), ("T", "Note")]
    default = build(vault, Profile(default_label="D"))
    assert [default.labels(name) for name in vault] == [("D", "Note"), ("D", "Note"), ("T", "Note")]


def test_the_folder_can_go_first(build):
    vault = {"a.md": {}, "b.md": {"props": {"type": "T"}}, "top/c.md": {"props": {"type": "T"}}}
    found = build(vault, Profile(label_from="folder", default_label="D"))
    assert [found.labels(name) for name in vault] == [("D", "Note"), ("T", "Note"), ("top", "Note")]


def test_a_note_named_as_its_folder_is_labelled_from_where_the_folder_sits(build):
    vault = {"Top.md": {}, "Top/Top.md": {}, "Top/Sub/Sub.md": {}, "Top/Sub/x.md": {}}
    found = build(vault)
    assert [found.labels(name) for name in vault] == [NOTE, NOTE, ("Top", "Note"), ("Top", "Note")]


def test_the_note_label_can_be_renamed(build):
    found = build({"a.md": {}, "b.md": {"props": {"type": "Page"}}, "t/c.md": {}}, Profile(note_label="Page"))
    assert [found.labels(name) for name in ("a.md", "b.md", "t/c.md")] == [("Page",), ("Page",), ("t", "Page")]


def test_an_id_is_the_stated_one_else_the_stem_and_the_path_where_several_share_it(build):
    vault = {
        "a.md": {},
        "b.md": {"props": {"id": "ZK1"}},
        "c.md": {"props": {"id": 42}},
        "d.md": {"props": {"id": ["x"]}},
        "x/N.md": {},
        "y/N.md": {},
        "z.md": {"props": {"id": "N"}},
        "e.md": {"props": {"id": ""}},
    }
    found = build(vault)
    assert {name: found.properties(name)["id"] for name in vault} == {
        "a.md": "a",
        "b.md": "ZK1",
        "c.md": "42",
        "d.md": "d",
        "x/N.md": "x/N",
        "y/N.md": "y/N",
        "z.md": "z",
        "e.md": "e",
    }
    assert found.properties("b.md")["concept_id"] == "ZK1"
    assert found.built.problems.is_empty()


def test_ids_are_distinct_even_where_one_imitates_a_path(build):
    vault = {"a.md": {"props": {"id": "x/N"}}, "x/N.md": {}, "y/N.md": {}}
    ids = build(vault).cells("id")[:3]
    assert len(set(ids)) == 3


def test_a_note_has_its_built_in_properties(build):
    found = build({"x/My note.md": {"title": "T", "body": "text"}})
    assert found.properties("x/My note.md") == {
        "body": "text",
        "concept_id": "My note",
        "file_path": "x/My note.md",
        "folder": "x",
        "id": "My note",
        "path": "x/My note.md",
        "size_bytes": 4,
        "stem": "My note",
        "title": "T",
    }


def test_a_frontmatter_key_of_a_built_in_property_is_kept_beside_it(build):
    found = build({"a.md": {"title": "T", "props": {"path": "zz", "folder": ["q"], "title": "T"}}})
    facts = found.properties("a.md")
    assert (facts["path"], facts["frontmatter.path"], facts["frontmatter.folder"]) == ("a.md", "zz", ["q"])
    assert found.problems("shadowed-property") == [("a.md", 2), ("a.md", 3)]


def test_nodes_are_ordered_by_label_then_path_with_notes_first(build):
    vault = {
        "b/2.md": {"links": ["[[Gone]]", "![[p.png]]", "[[f.zip]]", "https://e.org"], "tags": ["t"]},
        "b/1.md": {},
        "a/3.md": {},
        "root.md": {"props": {"type": "Z"}},
        "plain.md": {},
        "p.png": 1,
        "f.zip": 1,
    }
    found = build(vault)
    assert found.names() == [
        "plain.md",
        "root.md",
        "a/3.md",
        "b/1.md",
        "b/2.md",
        "f.zip",
        "p.png",
        "Folder:a",
        "Folder:b",
        "Concept:Gone",
        "Source:https://e.org",
        "Tag:t",
    ]
    assert [group.first for group in found.graph.groups][1:] == [group.stop for group in found.graph.groups][:-1]
    assert found.graph.groups[-1].stop == found.graph.node_count


def test_an_empty_vault_is_an_empty_graph(build):
    found = build({})
    assert (found.graph.node_count, found.graph.groups, found.graph.relationship_count) == (0, (), 0)
    assert found.built.problems.is_empty()


def test_the_records_problems_are_in_the_report_with_their_path(build):
    found = build({"b.md": {"problems": ["bad-tag"]}, "a.md": {"skip": True, "problems": ["bad-frontmatter"]}})
    assert found.problems("bad-tag") == [("b.md", None)]
    assert found.problems("bad-frontmatter") == [("a.md", None)]
