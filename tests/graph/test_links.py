"""What links become: relationships, their types and properties, and the nodes of what is not there."""

import pytest

from vaultgraph.graph.names import relationship_types
from vaultgraph.profile.settings import FolderNotes, Hub, Profile


def test_a_wikilink_is_a_links_to_relationship(build):
    found = build({"a.md": {"links": ["[[B]]"]}, "B.md": {}})
    assert found.relationships("LINKS_TO", "line", "count", "via") == [("a.md", "B.md", 1, 1, None)]


def test_the_same_link_written_twice_is_one_relationship_with_a_count_and_the_first_line(build):
    found = build({"a.md": {"links": ["[[B|x]]", "[[B]]", "[[b]]", "[[B.md]]"]}, "B.md": {}})
    assert found.relationships("LINKS_TO", "display", "line", "count") == [
        ("a.md", "B.md", "x", 1, 1),
        ("a.md", "B.md", None, 2, 3),
    ]


def test_another_section_or_anchor_is_another_relationship(build):
    found = build({"a.md": {"links": ["[[B]]", "[[B#H]]", "under S", "[[B]]"]}, "B.md": {"headings": ["H"]}})
    assert found.relationships("LINKS_TO", "section", "anchor") == [
        ("a.md", "B.md", "S", None),
        ("a.md", "B.md", None, "H"),
        ("a.md", "B.md", None, None),
    ]


def test_a_note_embed_is_embeds(build):
    found = build({"a.md": {"links": ["![[B#H]]", "![x](B.md)"]}, "B.md": {"headings": ["H"]}})
    assert found.relationships("EMBEDS", "anchor", "display") == [
        ("a.md", "B.md", "H", None),
        ("a.md", "B.md", None, "x"),
    ]


def test_an_empty_target_is_a_link_of_the_note_to_itself(build):
    found = build({"a.md": {"links": ["[[#H]]", "[x](#H)"], "headings": ["H"]}})
    assert found.relationships("LINKS_TO", "anchor") == [("a.md", "a.md", "H"), ("a.md", "a.md", "H")]
    assert found.problems("missing-anchor") == []


def test_a_web_link_leads_to_a_source_and_links_out(build):
    found = build({"a.md": {"links": ["https://ex.org/x", "![p](https://ex.org/p.png)"]}})
    assert found.relationships() == [
        ("a.md", "LINKS_OUT", "Source:https://ex.org/p.png"),
        ("a.md", "LINKS_OUT", "Source:https://ex.org/x"),
    ]
    assert found.labels("Source:https://ex.org/x") == ("Source",)


def test_an_explicit_title_gives_the_type_of_a_link(build):
    found = build({"a.md": {"links": ['[x](B.md "CITES")', '[x](https://e.org "QUOTES")']}, "B.md": {}})
    assert found.relationships() == [("a.md", "CITES", "B.md"), ("a.md", "QUOTES", "Source:https://e.org")]


def test_heading_edges_type_the_links_under_a_heading_and_an_explicit_title_goes_before(build):
    profile = Profile(heading_edges={"see also": "RELATED"})
    links = ["[[B]]", "under See Also", "[[B]]", '[x](B.md "CITES")', "https://e.org"]
    found = build({"a.md": {"links": links}, "B.md": {}}, profile)
    assert found.relationships(None, "section") == [
        ("a.md", "CITES", "B.md", "See Also"),
        ("a.md", "LINKS_OUT", "Source:https://e.org", "See Also"),
        ("a.md", "LINKS_TO", "B.md", None),
        ("a.md", "RELATED", "B.md", "See Also"),
    ]


def test_without_heading_edges_no_heading_changes_a_type(build):
    found = build({"a.md": {"links": ["under References", "[[B]]"]}, "B.md": {}})
    assert found.relationships() == [("a.md", "LINKS_TO", "B.md")]


def test_a_property_link_is_typed_by_its_key_and_the_property_stays(build):
    found = build({"a.md": {"links": ["related to: [[B]]"], "props": {"related to": "[[B]]"}}, "B.md": {}})
    assert found.relationships(None, "property") == [("a.md", "RELATED_TO", "B.md", "related to")]
    assert found.properties("a.md")["related to"] == "[[B]]"


@pytest.mark.parametrize(
    ("key", "expected"),
    [("up", "UP"), ("a.b", "A_B"), ("-x y-", "X_Y"), ("größe", "GRÖSSE"), ("属性", "属性"), ("🎉", "🎉")],
)
def test_property_keys_become_upper_snake_types(key, expected):
    import polars as pl

    assert relationship_types(pl.Series([key])).to_list() == [expected]


def test_a_parent_link_follows_the_folder_note_relationship_and_direction(build):
    vault = {"a.md": {"links": ["parent: [[B]]"]}, "B.md": {}}
    assert build(vault).relationships(None, "property") == [("a.md", "CHILD_OF", "B.md", "parent")]
    down = Profile(folder_notes=FolderNotes("HAS_PART", "parent_to_child"))
    assert build(vault, down).relationships(None, "property") == [("B.md", "HAS_PART", "a.md", "parent")]


def test_an_unresolved_name_is_one_provisional_concept_and_a_problem_for_each_place(build):
    found = build({"a.md": {"links": ["[[Gone]]", "[[gone.md]]"]}, "b.md": {"links": ["x: [[GONE]]"]}})
    assert found.relationships() == [("a.md", "LINKS_TO", "Concept:Gone"), ("b.md", "X", "Concept:Gone")]
    assert found.properties("Concept:Gone") == {
        "id": "Gone",
        "concept_id": "Gone",
        "title": "Gone",
        "_provisional": True,
    }
    assert found.problems("unresolved-link") == [("a.md", 1), ("a.md", 2), ("b.md", 1)]
    assert found.built.counts["dangling_links"] == 3
    assert set(found.built.problems["severity"]) == {"info"}


def test_a_link_to_a_skipped_note_does_not_resolve_and_its_own_links_are_not_in_the_graph(build):
    found = build({"a.md": {"links": ["[[S]]"]}, "S.md": {"skip": True, "links": ["[[a]]"], "tags": ["t"]}})
    assert found.names() == ["a.md", "Concept:S"]


def test_markdown_links_to_folders_mean_nothing(build):
    found = build({"a.md": {"links": ["[x](sub/)", "[x](.)"]}, "sub/b.md": {}})
    assert found.relationships("LINKS_TO") == []
    assert found.built.counts["links"] == 0


def test_targets_outside_the_vault_are_errors_without_a_node(build):
    links = ["[x](../../up.md)", "[[C:/x]]", "[x](file:///etc/x)", "[[../out]]", "[x](../ok.md)"]
    found = build({"sub/a.md": {"links": links}, "ok.md": {}})
    assert found.problems("outside-vault") == [("sub/a.md", 1), ("sub/a.md", 2), ("sub/a.md", 3)]
    assert found.relationships("LINKS_TO") == [("sub/a.md", "Concept:out"), ("sub/a.md", "ok.md")]
    assert found.built.counts["outside_links"] == 3


def test_a_missing_heading_or_block_is_a_problem_and_the_anchor_stays(build):
    target = {"headings": ["The **Big** One!", "Sub"], "blocks": ["Id1"]}
    links = [
        "[[B#the big one]]",
        "[[B#The Big One#Sub]]",
        "[[B#^id1]]",
        "[x](B.md#the-big-one)",
        "[[B#Nope]]",
        "[[B#^no]]",
    ]
    found = build({"a.md": {"links": links}, "B.md": target})
    assert found.problems("missing-anchor") == [("a.md", 5), ("a.md", 6)]
    assert ("a.md", "B.md", "Nope") in found.relationships("LINKS_TO", "anchor")
    assert found.built.counts["missing_anchors"] == 2


def test_a_link_in_a_hub_property_takes_the_hub_relationship(build):
    profile = Profile(hubs={"author": Hub("Person", "BY")})
    props = {"author": ["[[B]]", "Ann"]}
    found = build({"a.md": {"links": ["author: [[B]]"], "props": props}, "B.md": {}}, profile)
    assert found.relationships("BY") == [("a.md", "B.md"), ("a.md", "Person:Ann")]


def test_relationships_are_sorted_by_ends_and_adjacency_agrees_both_ways(build):
    import numpy as np

    found = build({"a.md": {"links": ["[[C]]", "[[B]]"]}, "B.md": {"links": ["[[a]]"]}, "C.md": {"links": ["[[a]]"]}})
    table = found.graph.relationships["LINKS_TO"]
    ends = list(zip(table.sources.tolist(), table.targets.tolist(), strict=True))
    assert ends == sorted(ends)
    node = np.array([found.names().index("a.md")], dtype=np.int64)
    assert {found.names()[i] for i in table.outgoing.expand(node)[1]} == {"B.md", "C.md"}
    assert {found.names()[i] for i in table.incoming.expand(node)[1]} == {"B.md", "C.md"}
