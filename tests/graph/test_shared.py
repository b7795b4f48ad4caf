"""Tags and hubs: one node for a value that many notes have."""

from vaultgraph.profile.settings import Hub, Profile


def test_a_tag_is_one_node_whatever_its_case_titled_by_the_most_used_spelling(build):
    vault = {
        "a.md": {"tags": ["Work", "work", "WORK"]},
        "b.md": {"tags": ["Work"]},
        "c.md": {"tags": ["STRASSE", "straße"]},
    }
    found = build(vault)
    assert found.properties("Tag:work") == {"id": "work", "title": "Work"}
    assert found.relationships("TAGGED", "line") == [
        ("a.md", "Tag:work", 1),
        ("b.md", "Tag:work", 1),
        ("c.md", "Tag:strasse", 1),
    ]


def test_equally_used_spellings_give_the_first_in_order(build):
    assert build({"a.md": {"tags": ["b", "B"]}}).properties("Tag:b")["title"] == "B"


def test_a_nested_tag_is_a_child_of_its_parents_which_exist(build):
    found = build({"a.md": {"tags": ["Area/Home/Roof", "area"]}, "b.md": {"tags": ["x/", "/y", "p//q", "/"]}})
    assert found.relationships("CHILD_OF") == [
        ("Tag:area/home", "Tag:area"),
        ("Tag:area/home/roof", "Tag:area/home"),
        ("Tag:p/q", "Tag:p"),
    ]
    assert found.relationships("TAGGED") == [
        ("a.md", "Tag:area"),
        ("a.md", "Tag:area/home/roof"),
        ("b.md", "Tag:p/q"),
        ("b.md", "Tag:x"),
        ("b.md", "Tag:y"),
    ]
    assert found.properties("Tag:area/home")["title"] == "Area/Home"
    assert found.properties("Tag:area")["title"] == "area"  # written alone goes before written as a parent


def test_tags_stay_children_when_folder_notes_are_renamed(build):
    from vaultgraph.profile.settings import FolderNotes

    profile = Profile(folder_notes=FolderNotes("HAS_PART", "parent_to_child"))
    assert build({"a.md": {"tags": ["x/y"]}}, profile).relationships("CHILD_OF") == [("Tag:x/y", "Tag:x")]


def test_a_hub_makes_nodes_of_the_texts_of_a_property(build):
    profile = Profile(hubs={"author": Hub("Person", "BY")})
    vault = {"a.md": {"props": {"author": ["Ann", "Bob", 7, "Ann"]}}, "b.md": {"props": {"author": "bob"}}}
    found = build(vault, profile)
    assert found.relationships("BY", "property", "line") == [
        ("a.md", "Person:Ann", "author", 2),
        ("a.md", "Person:Bob", "author", 2),
        ("b.md", "Person:bob", "author", 2),
    ]
    assert found.properties("Person:Ann") == {"id": "Ann", "title": "Ann"}
    assert found.properties("a.md")["author"] == 'json ["Ann","Bob",7,"Ann"]'


def test_a_case_insensitive_hub_folds_and_keeps_the_most_used_spelling_as_title(build):
    profile = Profile(hubs={"k": Hub("K", "HAS_K", case_insensitive=True)})
    found = build(
        {"a.md": {"props": {"k": ["A", "A", "a"]}}, "b.md": {"props": {"k": "a"}}, "c.md": {"props": {"k": "a"}}},
        profile,
    )
    assert found.properties("K:a") == {"id": "a", "title": "a"}


def test_hubs_with_one_label_share_nodes_and_the_tag_label_means_tags(build):
    profile = Profile(hubs={"by": Hub("P", "BY"), "for": Hub("P", "FOR"), "topic": Hub("Tag", "TAGGED")})
    found = build({"a.md": {"props": {"by": "X", "for": "X", "topic": "A/B"}, "tags": ["a/b"]}}, profile)
    assert found.relationships() == [
        ("Tag:a/b", "CHILD_OF", "Tag:a"),
        ("a.md", "BY", "P:X"),
        ("a.md", "FOR", "P:X"),
        ("a.md", "TAGGED", "Tag:a/b"),
    ]
