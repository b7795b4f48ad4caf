"""Folders, folder notes and the relationships between what lies in them."""

from vaultgraph.profile.settings import FolderNotes, Profile


def test_a_folder_above_notes_is_a_node_that_contains_notes_and_folders(build):
    found = build({"a/b/n.md": {}, "a/m.md": {}, "root.md": {}, "img/p.png": 1, "e/c.canvas": {}})
    assert found.relationships("CONTAINS") == [
        ("Folder:a", "Folder:a/b"),
        ("Folder:a", "a/m.md"),
        ("Folder:a/b", "a/b/n.md"),
    ]
    assert found.properties("Folder:a/b") == {"id": "a/b", "path": "a/b", "title": "b"}


def test_a_folder_note_beside_its_folder_takes_its_place(build):
    found = build({"P/X.md": {}, "P/X/n.md": {}, "P/X/sub/m.md": {}})
    assert found.relationships() == [
        ("Folder:P", "CONTAINS", "P/X.md"),
        ("Folder:P/X/sub", "CONTAINS", "P/X/sub/m.md"),
        ("P/X.md", "CONTAINS", "Folder:P/X/sub"),
        ("P/X/n.md", "CHILD_OF", "P/X.md"),
    ]
    assert found.built.counts["folder_notes"] == 1


def test_a_folder_note_inside_its_folder_takes_its_place_too(build):
    found = build({"P/X/X.md": {}, "P/X/n.md": {}, "T/T.md": {}})
    assert found.relationships() == [("Folder:P", "CONTAINS", "P/X/X.md"), ("P/X/n.md", "CHILD_OF", "P/X/X.md")]
    assert found.built.counts["folder_notes"] == 2


def test_folder_notes_nest_and_compare_names_without_case(build):
    found = build({"x.md": {}, "X/Y/y.md": {}, "X/Y/n.md": {}})
    assert found.relationships() == [("X/Y/n.md", "CHILD_OF", "X/Y/y.md"), ("X/Y/y.md", "CHILD_OF", "x.md")]


def test_of_two_folder_notes_the_one_beside_wins_and_the_other_is_reported(build):
    found = build({"X.md": {}, "X/X.md": {}, "X/n.md": {}})
    assert found.relationships() == [("X/X.md", "CHILD_OF", "X.md"), ("X/n.md", "CHILD_OF", "X.md")]
    assert found.problems("second-folder-note") == [("X/X.md", None)]
    assert found.built.counts["folder_notes"] == 1


def test_type_and_direction_of_folder_notes_are_the_profile_s(build):
    profile = Profile(folder_notes=FolderNotes("HAS_PART", "parent_to_child"))
    found = build({"X.md": {}, "X/n.md": {}, "X/sub/m.md": {}}, profile)
    assert found.relationships() == [
        ("Folder:X/sub", "CONTAINS", "X/sub/m.md"),
        ("X.md", "CONTAINS", "Folder:X/sub"),
        ("X.md", "HAS_PART", "X/n.md"),
    ]


def test_a_note_of_a_folder_s_name_is_no_folder_note_while_the_folder_holds_no_notes(build):
    found = build({"img.md": {}, "img/p.png": 1, "s/k.md": {"skip": True}, "s.md": {}})
    assert found.names() == ["img.md", "s.md"]
    assert found.built.counts["folder_notes"] == 0
