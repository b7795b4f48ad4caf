"""Tags below a prefix as nodes with a label and a relationship type of their own."""

from vaultgraph.profile.settings import Hub, Profile, TagLabel

INTENT = Profile(tag_labels={"intent": TagLabel("Intent", "HAS_INTENT")})


def test_a_tag_below_a_prefix_is_a_node_without_the_prefix(build):
    vault = {
        "a.md": {"tags": ["Intent/Learn", "intent/learn", "other"]},
        "b.md": {"tags": ["intent/Learn", "INTENT/Learn"]},
    }
    found = build(vault, INTENT)
    assert found.properties("Intent:learn") == {"id": "learn", "title": "Learn"}
    assert found.relationships() == [
        ("a.md", "HAS_INTENT", "Intent:learn"),
        ("a.md", "TAGGED", "Tag:other"),
        ("b.md", "HAS_INTENT", "Intent:learn"),
    ]
    assert found.relationships("HAS_INTENT", "line") == [("a.md", "Intent:learn", 1), ("b.md", "Intent:learn", 1)]


def test_the_prefix_alone_and_longer_names_stay_tags(build):
    found = build({"a.md": {"tags": ["intent", "intentional/x", "x/intent/y", "intent/"]}}, INTENT)
    assert found.relationships("TAGGED") == [
        ("a.md", "Tag:intent"),
        ("a.md", "Tag:intentional/x"),
        ("a.md", "Tag:x/intent/y"),
    ]
    assert found.relationships("HAS_INTENT") == []


def test_nesting_below_the_prefix_stays_within_the_label(build):
    found = build({"a.md": {"tags": ["intent/Learn/Deep/Down"]}}, INTENT)
    assert found.relationships("CHILD_OF") == [
        ("Intent:learn/deep", "Intent:learn"),
        ("Intent:learn/deep/down", "Intent:learn/deep"),
    ]
    assert found.relationships("HAS_INTENT") == [("a.md", "Intent:learn/deep/down")]
    assert found.properties("Intent:learn/deep")["title"] == "Learn/Deep"
    assert not [name for name in found.names() if name.startswith("Tag:")]


def test_the_longest_prefix_wins(build):
    profile = Profile(
        tag_labels={
            "a": TagLabel("One", "HAS_ONE"),
            "a/b": TagLabel("Two", "HAS_TWO"),
            "a/b/c/d": TagLabel("Four", "HAS_FOUR"),
        }
    )
    found = build({"n.md": {"tags": ["a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "A/x"]}}, profile)
    assert [row for row in found.relationships() if row[0] == "n.md"] == [
        ("n.md", "HAS_FOUR", "Four:e"),
        ("n.md", "HAS_ONE", "One:b"),
        ("n.md", "HAS_ONE", "One:x"),
        ("n.md", "HAS_TWO", "Two:c"),
        ("n.md", "HAS_TWO", "Two:c/d"),
        ("n.md", "TAGGED", "Tag:a"),
    ]


def test_two_prefixes_and_a_hub_with_one_label_share_its_nodes(build):
    profile = Profile(
        tag_labels={"for": TagLabel("Person", "FOR"), "by": TagLabel("Person", "BY")},
        hubs={"owner": Hub("Person", "OWNED_BY")},
    )
    vault = {"a.md": {"tags": ["for/Ann", "by/ann", "by/Bob/Jr"], "props": {"owner": ["ANN", "Bob/Jr"]}}}
    found = build(vault, profile)
    assert found.relationships() == [
        ("Person:bob/jr", "CHILD_OF", "Person:bob"),
        ("a.md", "BY", "Person:ann"),
        ("a.md", "BY", "Person:bob/jr"),
        ("a.md", "FOR", "Person:ann"),
        ("a.md", "OWNED_BY", "Person:ann"),
        ("a.md", "OWNED_BY", "Person:bob/jr"),
    ]


def test_a_prefix_is_compared_as_tags_are(build):
    profile = Profile(tag_labels={"strasse": TagLabel("Street", "IN")})
    found = build({"a.md": {"tags": ["Straße/Straße 1", "STRASSE/x"]}}, profile)
    assert found.relationships("IN") == [("a.md", "Street:strasse 1"), ("a.md", "Street:x")]
    assert found.properties("Street:strasse 1")["title"] == "Straße 1"


def test_hub_values_are_no_tags_below_a_prefix(build):
    profile = Profile(tag_labels=INTENT.tag_labels, hubs={"topic": Hub("Tag", "TAGGED")})
    found = build({"a.md": {"props": {"topic": "intent/x"}}}, profile)
    assert found.relationships("TAGGED") == [("a.md", "Tag:intent/x")]
