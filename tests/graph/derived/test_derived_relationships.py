"""Relationships of pieces: what holds them, what follows what, tables as relationships, and links to pieces."""

import pytest

from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    FolderNotes,
    Hub,
    KeyFromHeading,
    OrderedLists,
    Profile,
    Reading,
    Sections,
    Structure,
    TableRule,
    Tasks,
)

S, C = PieceKind.SECTION, PieceKind.CHUNK
WORKED_AT = TableRule("Worked at", "WORKED_AT", edges=True)


def profile(types: dict[str, dict[str, str]] | None = None, **structure: object) -> Profile:
    return Profile(types=types or {}, reading=Reading(Structure(**structure), tasks=Tasks()))


def test_sections_hang_on_their_note_or_section_lead_back_and_on(derive, of):
    pieces = [
        of(S, "#A", level=1, line=1),
        of(S, "#A#B", level=2, parent=0, line=2),
        of(S, "#A#B#C", level=3, parent=1, line=3),
        of(S, "#A#D", level=2, parent=0, line=4),
        of(S, "#E", level=1, line=5),
    ]
    rules = profile(sections=Sections(label="Part", edge="HAS", parent="UP", next="ON"))
    found = derive({"n.md": {"pieces": pieces}, "o.md": {"pieces": pieces[:1]}}, rules)
    a, b, c, d, e = (f"Part:n{piece['fragment']}" for piece in pieces)
    assert found.relationships("HAS") == [(b, c), (a, b), (a, d), ("n.md", a), ("n.md", e), ("o.md", "Part:o#A")]
    assert found.relationships("UP") == [(c, b), (b, a), (d, a)]
    assert found.relationships("ON") == [(b, d), (a, e)]


def test_chunks_follow_each_other_within_a_section_and_steps_within_a_list(derive, of):
    steps = {"level": 0, "section": -1}
    pieces = [
        of(C, "~chunk1", line=1),
        of(C, "~chunk2", line=2),
        of(S, "#A", level=1, line=3),
        of(C, "#A~chunk1", parent=2, line=4),
        of(PieceKind.LIST, "~list1", size=2, line=5),
        of(PieceKind.STEP, "~list1~step1", parent=4, line=5, **steps),
        of(PieceKind.STEP, "~list1~step1~step1", parent=5, line=6, **steps),
        of(PieceKind.STEP, "~list1~step2", parent=4, line=7, **steps),
        of(C, "#A~chunk2", parent=2, line=8),
    ]
    rules = profile(sections=Sections(), chunks=Chunks(), ordered_lists=OrderedLists(container="Way home"))
    found = derive({"n.md": {"pieces": pieces}}, rules)
    assert found.relationships("NEXT_CHUNK") == [
        ("Chunk:n#A~chunk1", "Chunk:n#A~chunk2"),
        ("Chunk:n~chunk1", "Chunk:n~chunk2"),
    ]
    assert found.relationships("HAS_WAY_HOME") == [("n.md", "Way home:n~list1")]
    one, inner, two = (f"ProcedureStep:n~list1~{rest}" for rest in ("step1", "step1~step1", "step2"))
    assert found.relationships("HAS_STEP") == [(one, inner), ("Way home:n~list1", one), ("Way home:n~list1", two)]
    assert found.relationships("NEXT_STEP") == [(one, two)]


def test_callouts_fences_tasks_and_rows_hang_on_their_section_by_their_rule(derive, of):
    pieces = [
        of(S, "#A", level=1),
        of(PieceKind.CALLOUT, "#A~callout1", parent=0, word="tip"),
        of(PieceKind.FENCE, "~example1"),
        of(PieceKind.TASK, "#A~task1", parent=0, word=" "),
        of(PieceKind.ROW, "#A~x", parent=0, rule=1, size=1),
    ]
    tables = (WORKED_AT, TableRule("x", "HAS_ITEM", label="Item"))
    found = derive(
        {"n.md": {"pieces": pieces}},
        profile(sections=Sections(), callouts=Callouts(edge="SAYS"), code_fences=CodeFences(), tables=tables),
    )
    assert found.relationships() == [
        ("Section:n#A", "HAS_ITEM", "Item:n#A~x"),
        ("Section:n#A", "HAS_TASK", "Task:n#A~task1"),
        ("Section:n#A", "SAYS", "Callout:n#A~callout1"),
        ("n.md", "HAS_EXAMPLE", "Example:n~example1"),
        ("n.md", "HAS_SECTION", "Section:n#A"),
    ]


def test_symbols_alone_are_sections_of_what_is_around_them(derive, of):
    pieces = [
        of(S, "#a.b", level=1, title="a.b"),
        of(S, "#a.b#In", level=2, title="In", parent=0),
        of(S, "#a.b#In#a.c", level=3, title="a.c", parent=1),
        of(S, "#d.e", level=1, title="d.e"),
    ]
    rules = profile(key_from_heading=KeyFromHeading(under_label="Api"))
    found = derive({"n.md": {"props": {"type": "Api"}, "pieces": pieces}}, rules)
    inner = "ApiSymbol:n#a.b#In#a.c"
    assert found.relationships() == [
        (inner, "PARENT_SECTION", "ApiSymbol:n#a.b"),
        ("ApiSymbol:n#a.b", "HAS_SECTION", inner),
        ("ApiSymbol:n#a.b", "NEXT_SECTION", "ApiSymbol:n#d.e"),
        ("n.md", "HAS_SECTION", "ApiSymbol:n#a.b"),
        ("n.md", "HAS_SECTION", "ApiSymbol:n#d.e"),
    ]


def tabled(of, *targets: str, **more: object) -> dict[str, object]:
    """A note with a table of relationships, a row for each target."""
    lines = range(5, 5 + len(targets))
    return {
        "pieces": [of(PieceKind.EDGE, "", rule=0, size=at, line=at + 4) for at in range(1, len(targets) + 1)],
        "rows": [
            {"target": target, "type": "WORKED_AT", "line": line, "section": "Worked at"}
            for target, line in zip(targets, lines, strict=True)
        ],
    } | more


def test_each_row_of_a_table_is_a_relationship_of_its_own_with_its_columns(derive, of):
    cells = [(0, "since", "2020", 5), (0, "role", "dev", 5), (1, "since", "2021", 6), (2, "since", "later", 7)]
    vault = {"a.md": tabled(of, "B", "B", "Nobody", cells=cells), "B.md": {}}
    found = derive(vault, profile({"WORKED_AT": {"since": "int"}}, tables=(WORKED_AT,)))
    keys = ("row", "since", "role", "section", "line")
    assert found.relationships("WORKED_AT", *keys) == [
        ("a.md", "B.md", 1, 2020, "dev", "Worked at", 5),
        ("a.md", "B.md", 2, 2021, None, "Worked at", 6),
        ("a.md", "Concept:Nobody", 3, "later", None, "Worked at", 7),
    ]
    assert found.problems("unresolved-link") == [("a.md", 7)]
    assert found.problems("type-mismatch") == [("a.md", 7)]
    assert found.built.counts["dangling_links"] == 1


def test_columns_of_typed_relationships_keep_their_type(derive, of):
    vault = {"a.md": tabled(of, "B", cells=[(0, "since", "2020-01-02", 5)]), "B.md": {}}
    (segment,) = (
        derive(vault, profile({"WORKED_AT": {"since": "date"}}, tables=(WORKED_AT,)))
        .graph.relationships["WORKED_AT"]
        .columns["since"]
        .segments
    )
    assert str(segment.series.dtype) == "Date"


def test_a_row_that_is_a_wikilink_of_the_body_too_stays_one_and_is_reported_once(derive, of):
    vault = {"a.md": tabled(of, "Gone", links=["under x"] * 4 + ["[[Gone]]"])}
    found = derive(vault, profile(tables=(WORKED_AT,)))
    assert found.relationships() == [("a.md", "LINKS_TO", "Concept:Gone"), ("a.md", "WORKED_AT", "Concept:Gone")]
    assert found.problems("unresolved-link") == [("a.md", 5)]
    assert (found.built.counts["links"], found.built.counts["dangling_links"]) == (1, 1)


def test_columns_named_as_what_relationships_have_are_kept_beside_it(derive, of):
    keys = ["section", "line", "row", "type", "source", "via", "count", "why"]
    vault = {"a.md": tabled(of, "B", cells=[(0, key, key.upper(), 5) for key in keys]), "B.md": {"links": ["[[a]]"]}}
    vault["a.md"]["rows"][0]["type"] = "LINKS_TO"
    found = derive(vault, profile(tables=(TableRule("x", "LINKS_TO", edges=True),)))
    table = found.graph.relationships["LINKS_TO"]
    assert sorted(table.columns) == sorted(
        ["count", "line", "row", "section", "why", *(f"column.{key}" for key in keys[:-1])]
    )
    assert found.relationships("LINKS_TO", "line", "column.line", "count", "column.count") == [
        ("B.md", "a.md", 1, None, 1, None),
        ("a.md", "B.md", 5, "LINE", None, "COUNT"),
    ]


def test_two_types_of_table_relationships_have_their_own_columns(derive, of):
    pieces = [of(PieceKind.EDGE, "", rule=rule, size=1, line=rule + 3) for rule in (0, 1, 0)]
    rows = [{"target": "B", "type": kind, "line": at} for at, kind in enumerate(["R", "Q", "R"])]
    cells = [(0, "n", "1", 3), (1, "n", "x", 4), (1, "m", "y", 4), (2, "n", "3", 3)]
    vault = {"a.md": {"pieces": pieces, "rows": rows, "cells": cells}, "B.md": {}}
    rules = (TableRule("r", "R", edges=True), TableRule("q", "Q", edges=True))
    found = derive(vault, profile({"R": {"n": "int"}}, tables=rules))
    assert found.relationships("R", "n", "m") == [("a.md", "B.md", 1, None), ("a.md", "B.md", 3, None)]
    assert found.relationships("Q", "n", "m") == [("a.md", "B.md", "x", "y")]


def test_rows_find_their_columns_whatever_leads_nowhere_or_is_skipped(derive, of):
    cells = [(0, "k", "first", 5), (1, "k", "second", 6), (2, "k", "third", 7)]
    vault = {
        "a.md": {"skip": True} | tabled(of, "B", cells=[(0, "k", "skipped", 5)]),
        "b.md": tabled(of, "../../up", ".", "B", cells=cells),
        "B.md": {},
    }
    found = derive(vault, profile(tables=(WORKED_AT,)))
    assert found.relationships("WORKED_AT", "row", "k") == [("b.md", "B.md", 3, "third")]
    assert found.problems("outside-vault") == [("b.md", 5)]


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("[[B]]", "WORKS_WITH", "B.md"),
        ("[[p.png]]", "WORKS_WITH", "p.png"),
        ("[[Gone]]", "WORKS_WITH", "Concept:Gone"),
        ("![[B]]", "EMBEDS", "B.md"),
        ("https://e.org", "LINKS_OUT", "Source:https://e.org"),
    ],
)
def test_a_link_of_an_inline_field_has_the_type_of_its_key(derive, text, kind, target):
    vault = {"a.md": {"links": ["under S", text], "fields": {2: "works with"}}, "B.md": {}, "p.png": 1}
    found = derive(vault)
    assert found.relationships(kind, "property", "section", "line") == [("a.md", target, "works with", "S", 2)]


def test_a_hub_types_the_links_of_inline_fields_too(derive):
    vault = {"a.md": {"links": ["[[B]]"], "fields": {1: "author"}}, "B.md": {}}
    found = derive(vault, Profile(hubs={"author": Hub("Author", "WRITTEN_BY")}))
    assert found.relationships() == [("a.md", "WRITTEN_BY", "B.md")]


def sections(of) -> list[dict[str, object]]:
    return [
        of(S, "#Top", level=1, title="Top", line=1),
        of(S, "#Top#Part", level=2, title="Part", parent=0, line=2),
        of(S, "#Top#Part#Deep one", level=4, title="Deep one", parent=1, line=3),
        of(S, "#Next", level=1, title="Next", line=4),
        of(S, "#Next#Part", level=2, title="Part", parent=3, line=5),
        of(S, "#Top~2", level=1, title="Top", line=6),
        of(S, "#Top~2#Last", level=2, title="Last", parent=5, line=7),
    ]


@pytest.mark.parametrize(
    ("anchor", "target"),
    [
        ("Top", "Section:B#Top"),
        ("top", "Section:B#Top"),
        ("Part", "Section:B#Top#Part"),
        ("Top#Part", "Section:B#Top#Part"),
        ("Next#Part", "Section:B#Next#Part"),
        ("Top#Deep one", "Section:B#Top#Part#Deep one"),
        ("Top#Part#deep-one", "Section:B#Top#Part#Deep one"),
        ("Top#Last", "Section:B#Top~2#Last"),
        ("Last", "Section:B#Top~2#Last"),
        ("Part#Top", "B.md"),
        ("Next#Deep one", "B.md"),
        ("Gone", "B.md"),
        ("Top#Gone", "B.md"),
        ("a#b#c#d#e#f#g", "B.md"),
        ("#", "B.md"),
    ],
)
def test_an_anchor_leads_to_the_first_section_below_the_headings_it_names(derive, of, anchor, target):
    vault = {"A.md": {"links": [f"[[B#{anchor}]]"]}, "B.md": {"pieces": sections(of)}, "C.md": {"pieces": sections(of)}}
    found = derive(vault, profile(sections=Sections()))
    assert found.relationships("LINKS_TO", "anchor") == [("A.md", target, anchor)]


def test_anchors_of_every_kind_of_link_lead_to_pieces(derive, of):
    links = ["[x](B.md#Top)", "![[B#Top]]", "see: [[B#Top]]", "[[#Here]]", "[[B]]"]
    vault = {
        "A.md": {"links": links, "pieces": [of(S, "#Here", level=1, title="Here")]},
        "B.md": {"pieces": sections(of), "headings": ["Top"]},
        "c.canvas": {"links": ["card B.md"]},
    }
    found = derive(vault, profile(sections=Sections()))
    top = "Section:B#Top"
    chosen = [row for row in found.relationships(None, "anchor") if row[1] in ("LINKS_TO", "EMBEDS", "SEE")]
    assert chosen == [
        ("A.md", "EMBEDS", top, "Top"),
        ("A.md", "LINKS_TO", "B.md", None),
        ("A.md", "LINKS_TO", "Section:A#Here", "Here"),
        ("A.md", "LINKS_TO", top, "Top"),
        ("A.md", "SEE", top, "Top"),
        ("c.canvas", "LINKS_TO", "B.md", None),
    ]
    assert found.problems("missing-anchor") == [("A.md", 4)]


def test_a_block_id_leads_to_its_piece_a_chunk_first(derive, of):
    pieces = [
        of(S, "#A", level=1, title="A", block="both", line=1),
        of(PieceKind.TASK, "#A~task1", parent=0, block="task", word=" ", line=2),
        of(C, "#^both", parent=0, block="both", line=3),
        of(C, "#A~chunk2", parent=0, block="both", line=4),
    ]
    vault = {
        "a.md": {"links": ["[[B#^both]]", "[[B#^TASK]]", "[[B#A#^task]]", "[[B#^gone]]"]},
        "B.md": {"pieces": pieces},
    }
    found = derive(vault, profile(sections=Sections(), chunks=Chunks()))
    assert found.relationships("LINKS_TO", "anchor") == [
        ("a.md", "B.md", "^gone"),
        ("a.md", "Chunk:B#^both", "^both"),
        ("a.md", "Task:B#A~task1", "A#^task"),
        ("a.md", "Task:B#A~task1", "^TASK"),
    ]


def test_the_first_heading_counts_even_where_only_a_later_one_is_a_node(derive, of):
    pieces = [of(S, "#a.b", level=1, title="A.B!"), of(S, "#a.b~2", level=1, title="a.b", line=2)]
    rules = profile(key_from_heading=KeyFromHeading(under_label="Api", when_matches="^a[.]b$"))
    found = derive({"n.md": {"links": ["[[#a.b]]"]}, "B.md": {"props": {"type": "Api"}, "pieces": pieces}}, rules)
    assert found.relationships("LINKS_TO") == [("n.md", "n.md")]
    linked = derive({"n.md": {"links": ["[[B#a.b]]"]}, "B.md": {"props": {"type": "Api"}, "pieces": pieces}}, rules)
    assert linked.relationships("LINKS_TO") == [("n.md", "B.md")]


def test_a_long_heading_is_found_by_all_of_it_and_around_others_by_its_beginning(derive, of):
    title = "long " * 100
    pieces = [
        of(S, "#long", level=1, title=title + "first"),
        of(S, "#long~2", level=1, title=title + "second", line=2),
        of(S, "#long~2#In", level=2, title="In", parent=1, line=3),
    ]
    links = [f"[[B#{title}second]]", f"[[B#{title}third]]", f"[[B#{title}second#In]]"]
    found = derive({"a.md": {"links": links}, "B.md": {"pieces": pieces}}, profile(sections=Sections()))
    assert sorted(row[1] for row in found.relationships("LINKS_TO")) == [
        "B.md",
        "Section:B#long~2",
        "Section:B#long~2#In",
    ]
    assert [len(path) for path in found.properties("Section:B#long~2#In")["path"]] == [200, 2]


def test_a_table_row_with_an_anchor_leads_to_the_section(derive, of):
    vault = {"a.md": tabled(of, "B"), "B.md": {"pieces": sections(of)}}
    vault["a.md"]["rows"][0] |= {"anchor": "Part", "display": "shown"}
    found = derive(vault, profile(sections=Sections(), tables=(WORKED_AT,)))
    assert found.relationships("WORKED_AT", "anchor", "display", "row") == [
        ("a.md", "Section:B#Top#Part", "Part", "shown", 1)
    ]


def test_a_parent_with_an_anchor_keeps_the_direction_of_folder_notes(derive, of):
    vault = {"a.md": {"links": ["parent: [[B#Next]]"]}, "B.md": {"pieces": sections(of)}}
    declared = Profile(
        folder_notes=FolderNotes("CHILD_OF", "parent_to_child"), reading=Reading(Structure(sections=Sections()))
    )
    assert derive(vault, declared).relationships("CHILD_OF") == [("Section:B#Next", "a.md")]
