"""Pieces as nodes: labels, numbers, ids and the properties of each kind."""

from itertools import pairwise

import pytest

from vaultgraph.graph.graph import ranges_of_label
from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    KeyFromHeading,
    OrderedLists,
    Profile,
    Reading,
    Sections,
    Structure,
    TableRule,
    Tasks,
)


def profile(**structure: object) -> Profile:
    return Profile(reading=Reading(Structure(**structure), tasks=Tasks()))


def own(found, name: str) -> dict[str, object]:
    """The properties of a node but those every one has."""
    return {
        key: value
        for key, value in found.properties(name).items()
        if key not in ("id", "concept_id", "note_id", "ordinal", "line")
    }


def test_pieces_follow_all_other_nodes_a_range_a_label_in_order_of_note_and_line(derive, of):
    pieces = [of(PieceKind.SECTION, "#A", level=1), of(PieceKind.CHUNK, "#A~chunk1", parent=0, line=2)]
    vault = {"b.md": {"pieces": pieces, "links": ["[[Gone]]"]}, "a.md": {"pieces": pieces, "props": {"type": "Zoo"}}}
    found = derive(vault, profile(sections=Sections(), chunks=Chunks(label="Aa")))
    assert found.names() == [
        "b.md",
        "a.md",
        "Concept:Gone",
        "Aa:a#A~chunk1",
        "Aa:b#A~chunk1",
        "Section:a#A",
        "Section:b#A",
    ]
    assert [(group.labels, group.first, group.stop) for group in found.graph.groups[-2:]] == [
        (("Aa",), 3, 5),
        (("Section",), 5, 7),
    ]
    assert found.graph.node_count == 7


def test_an_id_is_the_id_of_the_note_and_the_fragment(derive, of):
    vault = {
        "x/n.md": {"pieces": [of(PieceKind.CHUNK, "~chunk1", line=4)]},
        "y/n.md": {"pieces": [of(PieceKind.CHUNK, "#^b")]},
        "z.md": {"props": {"id": "own"}, "pieces": [of(PieceKind.CHUNK, "~chunk1", ordinal=3)]},
    }
    found = derive(vault, profile(chunks=Chunks()))
    assert found.names()[-3:] == ["Chunk:x/n~chunk1", "Chunk:y/n#^b", "Chunk:own~chunk1"]
    keys = ("id", "concept_id", "note_id", "ordinal", "line")
    assert {key: found.properties("Chunk:own~chunk1")[key] for key in keys} == {
        "id": "own~chunk1",
        "concept_id": "own~chunk1",
        "note_id": "own",
        "ordinal": 3,
        "line": 1,
    }


def test_each_kind_has_its_properties(derive, of):
    pieces = [
        of(PieceKind.SECTION, "#Top", level=1, title="Top", text="all", block="s1"),
        of(PieceKind.SECTION, "#Top#In", level=2, title="In", text="", parent=0),
        of(PieceKind.CHUNK, "#Top#In~chunk1", parent=1, text="words", hash="abc"),
        of(PieceKind.CALLOUT, "#Top~callout1", parent=0, title="Careful", text="inner", word="warning", fold="-"),
        of(PieceKind.CALLOUT, "#Top~callout2", parent=0, text="", word="info"),
        of(PieceKind.FENCE, "~example1", text="x = 1", word="python", title="The example:"),
        of(PieceKind.LIST, "#Top~list1", parent=0, size=3),
        of(PieceKind.LIST, "~list1", size=2),
        of(PieceKind.STEP, "#Top~list1~step1", parent=6, section=0, text="one", level=0),
        of(PieceKind.TASK, "#Top~task1", parent=0, text="do it", word="x", block="t1"),
        of(PieceKind.TASK, "#Top~task2", parent=0, text="maybe", word="/"),
    ]
    everything = profile(
        sections=Sections(),
        chunks=Chunks(),
        callouts=Callouts(),
        code_fences=CodeFences(),
        ordered_lists=OrderedLists(),
    )
    found = derive({"n.md": {"title": "The note", "pieces": pieces}}, everything)
    top = {"section_id": "n#Top"}
    assert own(found, "Section:n#Top") == {"title": "Top", "level": 1, "path": ["Top"], "text": "all", "block_id": "s1"}
    assert own(found, "Section:n#Top#In") == top | {"title": "In", "level": 2, "path": ["Top", "In"], "text": ""}
    chunk = {"title": "n#Top#In~chunk1", "section_id": "n#Top#In", "text": "words", "chunk_hash": "abc"}
    assert own(found, "Chunk:n#Top#In~chunk1") == chunk
    callout = {"title": "Careful", "text": "inner", "kind": "warning", "fold": "-"}
    assert own(found, "Callout:n#Top~callout1") == top | callout
    assert own(found, "Callout:n#Top~callout2") == top | {"title": "Info", "text": "", "kind": "info"}
    fence = {"title": "n~example1", "code": "x = 1", "lang": "python", "caption": "The example:"}
    assert own(found, "Example:n~example1") == fence
    assert own(found, "Procedure:n#Top~list1") == top | {"title": "Top", "step_count": 3}
    assert own(found, "Procedure:n~list1") == {"title": "The note", "step_count": 2}
    step = {"title": "n#Top~list1~step1", "text": "one", "level": 0}
    assert own(found, "ProcedureStep:n#Top~list1~step1") == top | step
    task = {"title": "do it", "text": "do it", "status": "x", "done": True, "block_id": "t1"}
    assert own(found, "Task:n#Top~task1") == top | task
    assert own(found, "Task:n#Top~task2") == top | {"title": "maybe", "text": "maybe", "status": "/", "done": False}


def test_a_skipped_note_has_no_pieces_and_a_table_row_that_is_a_relationship_is_no_node(derive, of):
    vault = {
        "a.md": {"skip": True, "pieces": [of(PieceKind.TASK, "~task1")]},
        "b.md": {"pieces": [of(PieceKind.TASK, "~task1"), of(PieceKind.EDGE, "", rule=0, size=1)]},
    }
    found = derive(vault, profile(tables=(TableRule("x", "R", edges=True),)))
    assert found.names() == ["b.md", "Task:b~task1"]


def test_a_vault_of_skipped_notes_only_is_empty(derive, of):
    pieces = [of(PieceKind.SECTION, "#a.b", level=1, title="a.b"), of(PieceKind.TASK, "~task1")]
    rules = profile(sections=Sections(), key_from_heading=KeyFromHeading(under_label="Api"), inherit=("x",))
    found = derive({"a.md": {"skip": True, "pieces": pieces}}, rules)
    assert (found.graph.node_count, found.relationships()) == (0, [])


def test_a_kind_that_nothing_declares_is_no_node_and_what_hangs_on_it_hangs_higher(derive, of):
    pieces = [
        of(PieceKind.SECTION, "#A", level=1),
        of(PieceKind.SECTION, "#A#B", level=2, parent=0),
        of(PieceKind.CHUNK, "#A#B~chunk1", parent=1),
    ]
    found = derive({"n.md": {"pieces": pieces}}, profile(chunks=Chunks()))
    assert found.relationships() == [("n.md", "HAS_CHUNK", "Chunk:n#A#B~chunk1")]
    assert "section_id" not in found.properties("Chunk:n#A#B~chunk1")


PARAMETERS = TableRule("Parameters", "HAS_PARAMETER", label="Parameter", key_column="name")


def row(of, fragment: str, number: int, **more: object) -> dict[str, object]:
    return of(PieceKind.ROW, fragment, rule=0, size=number, ordinal=number - 1, line=number + 2, **more)


def test_the_columns_of_a_row_are_properties_typed_as_declared_under_its_label(derive, of):
    cells = [
        (0, "name", "a", 3),
        (0, "size", "3", 3),
        (0, "since", "2020-01-02", 3),
        (1, "name", "[[B|Bee]]", 4),
        (1, "size", "4x", 4),
    ]
    types = {"Parameter": {"size": "int", "since": "date"}, "Note": {"name": "list"}}
    declared = Profile(types=types, reading=Reading(Structure(tables=(PARAMETERS,))))
    found = derive({"n.md": {"pieces": [row(of, "~a", 1), row(of, "~row2", 2)], "cells": cells}}, declared)
    first = found.properties("Parameter:n~a")
    assert (first["name"], first["size"], str(first["since"]), first["row"]) == ("a", 3, "2020-01-02", 1)
    assert (first["title"], found.properties("Parameter:n~row2")["title"]) == ("a", "Bee")
    assert found.properties("Parameter:n~row2")["size"] == "4x"
    assert found.problems("type-mismatch") == [("n.md", 4)]


def test_a_column_named_as_a_property_of_every_row_is_kept_beside_it(derive, of):
    keys = ["id", "path", "line", "title", "note_id", "text", "status", "level", "", " spaced "]
    cells = [(0, key, f"c-{key}", 3) for key in keys]
    found = derive(
        {"n.md": {"pieces": [row(of, "~row1", 1)], "cells": cells}}, profile(tables=(PARAMETERS,), chunks=Chunks())
    )
    assert own(found, "Parameter:n~row1") == {
        "title": "n~row1",
        "row": 1,
        **{f"column.{key}": f"c-{key}" for key in ("id", "path", "line", "title", "note_id", "")},
        **{key: f"c-{key}" for key in ("text", "status", "level")},
        "spaced": "c- spaced ",
    }


def test_a_heading_written_twice_in_a_table_gives_a_list(derive, of):
    cells = [(0, "a", "1", 3), (0, "a", "2", 3), (0, "b", "3", 3)]
    found = derive({"n.md": {"pieces": [row(of, "~row1", 1)], "cells": cells}}, profile(tables=(PARAMETERS,)))
    assert own(found, "Parameter:n~row1") == {"title": "n~row1", "row": 1, "a": ["1", "2"], "b": "3"}


@pytest.mark.parametrize("label", ["Parameter", "Chunk", "Aaa", "Zzz"])
def test_a_column_and_a_property_of_another_kind_may_share_a_name_and_a_label(derive, of, label):
    pieces = [
        of(PieceKind.SECTION, "#A", level=2, title="A", text="t"),
        of(PieceKind.CHUNK, "~chunk1", text="words"),
        row(of, "~row1", 1),
        row(of, "~row2", 2),
    ]
    cells = [(2, "text", "7", 3), (2, "level", "9", 3), (3, "text", "x", 4), (2, "path", "p", 3)]
    rules = {"sections": Sections(label="Mid"), "chunks": Chunks(label="Chunk")}
    table = TableRule("x", "HAS", label=label)
    declared = Profile(
        types={label: {"text": "int"}}, reading=Reading(Structure(tables=(table,), **rules), tasks=Tasks())
    )
    found = derive({"n.md": {"pieces": pieces, "cells": cells}}, declared)
    assert (found.properties("Mid:n#A")["level"], found.properties("Mid:n#A")["path"]) == (2, ["A"])
    assert found.properties("Chunk:n~chunk1")["text"] == "words"
    first, second = found.properties(f"{label}:n~row1"), found.properties(f"{label}:n~row2")
    assert (first["text"], first["level"], first["column.path"], second["text"]) == (7, "9", "p", "x")
    for column in found.graph.node_columns.values():
        spans = [(segment.first, segment.stop) for segment in column.segments]
        assert all(left[1] <= right[0] for left, right in pairwise(spans))


def test_inherited_properties_keep_their_type_and_a_column_goes_before(derive, of):
    note = {"props": {"corpus": 3, "themes": ["a", "b"], "name": "note", "other": 1}}
    vault = {
        "n.md": note
        | {"pieces": [row(of, "~row1", 1), of(PieceKind.CHUNK, "~chunk1")], "cells": [(0, "name", "x", 3)]},
        "m.md": {"pieces": [of(PieceKind.CHUNK, "~chunk1")], "props": {"corpus": True}},
    }
    found = derive(vault, profile(chunks=Chunks(), tables=(PARAMETERS,), inherit=("corpus", "themes", "name", "id")))
    shared = {"corpus": 3, "themes": ["a", "b"]}
    assert own(found, "Chunk:n~chunk1").items() >= (shared | {"name": "note"}).items()
    assert own(found, "Parameter:n~row1") == shared | {"title": "x", "row": 1, "name": "x"}
    assert own(found, "Chunk:m~chunk1")["corpus"] is True
    assert "other" not in found.properties("Chunk:n~chunk1")


def test_the_embed_text_fills_the_template_for_pieces_with_text(derive, of):
    pieces = [
        of(PieceKind.CHUNK, "~chunk1", text="intro"),
        of(PieceKind.SECTION, "#A", level=1, title="A", text="a"),
        of(PieceKind.SECTION, "#A#B", level=3, title="B", text="b", parent=1),
        of(PieceKind.CHUNK, "#A#B~chunk1", text="{id}", parent=2),
        of(PieceKind.FENCE, "#A#B~example1", text="code", parent=2),
    ]
    template = "{title}|{section_title}|{heading_path}|{text}|{id}|{other}"
    rules = profile(sections=Sections(), chunks=Chunks(), code_fences=CodeFences(), embed_text=template)
    found = derive({"n.md": {"title": "T", "pieces": pieces}}, rules)
    texts = {name: found.properties(name).get("embed_text") for name in found.names()[1:]}
    assert texts == {
        "Chunk:n~chunk1": "T|||intro|n~chunk1|{other}",
        "Chunk:n#A#B~chunk1": "T|B|A > B|{id}|n#A#B~chunk1|{other}",
        "Example:n#A#B~example1": None,
        "Section:n#A": "T|A|A|a|n#A|{other}",
        "Section:n#A#B": "T|B|A > B|b|n#A#B|{other}",
    }


def test_a_placeholder_is_filled_once(derive, of):
    rules = profile(chunks=Chunks(), embed_text="{text} {text} {id} {text}")
    found = derive({"n.md": {"pieces": [of(PieceKind.CHUNK, "~c", text="t")]}}, rules)
    assert found.properties("Chunk:n~c")["embed_text"] == "t {text} n~c {text}"


def test_what_every_part_would_repeat_is_bounded(derive, of):
    note = {
        "title": "t" * 3000,
        "props": {"id": "i" * 9000, "long": "x" * 2000, "many": ["y"] * 1001, "short": ["z"] * 1000},
        "pieces": [of(PieceKind.CHUNK, "~c", text="t")],
    }
    inherited = profile(chunks=Chunks(), inherit=("long", "many", "short"), embed_text="{title}")
    found = derive({"n.md": note}, inherited).properties(f"Chunk:{'i' * 4096}~c")
    assert (found["note_id"], found["embed_text"]) == ("i" * 4096, "t" * 200)
    assert [key for key in ("long", "many", "short") if key in found] == ["short"]


def test_an_inherited_property_never_replaces_one_of_the_piece(derive, of):
    pieces = [of(PieceKind.TASK, "~task1", text="do", word="x"), of(PieceKind.CHUNK, "~c", line=2)]
    note = {"pieces": pieces, "props": {"status": ["a", "b"], "done": "never"}}
    found = derive({"n.md": note}, profile(chunks=Chunks(), inherit=("status", "done")))
    assert own(found, "Task:n~task1").items() >= {"status": "x", "done": True}.items()
    assert own(found, "Chunk:n~c").items() >= {"status": ["a", "b"], "done": "never"}.items()


def test_the_key_column_is_found_in_any_case_and_shows_what_links_show(derive, of):
    cells = [(0, "NAME", "[[x/y|The *y*]] and [z](z.md)", 3)]
    found = derive({"n.md": {"pieces": [row(of, "~row1", 1)], "cells": cells}}, profile(tables=(PARAMETERS,)))
    assert found.properties("Parameter:n~row1")["title"] == "The *y* and z"


def test_without_sections_the_headings_of_the_note_give_the_heading_path(derive, of):
    note = {
        "headings": ["A"],
        "pieces": [
            of(PieceKind.CHUNK, "~chunk1", line=0, text="x"),
            of(PieceKind.CHUNK, "#A~chunk1", line=5, text="y"),
        ],
    }
    found = derive({"m.md": {"headings": ["M"]}, "n.md": note}, profile(chunks=Chunks(), embed_text="{heading_path}"))
    assert found.cells("embed_text")[2:] == ["", "A"]


def test_headings_that_name_a_symbol_are_labelled_and_split(derive, of):
    titles = ["mod.func(a) → T", "mod.other → int", "plain", "mod.name", "f.g(x, y)"]
    pieces = [of(PieceKind.SECTION, f"#{title}", level=1, title=title, line=line) for line, title in enumerate(titles)]
    pieces.append(of(PieceKind.SECTION, "#mod.name#In", level=2, title="In", parent=3, line=9))
    pieces.append(of(PieceKind.CHUNK, "#In~chunk1", parent=5, line=9))
    vault = {"n.md": {"props": {"type": "Api"}, "pieces": pieces}, "other.md": {"pieces": pieces[:1]}}
    rule = KeyFromHeading(under_label="Api")
    found = derive(vault, profile(sections=Sections(), key_from_heading=rule))
    names = {
        name: (found.properties(name).get("qualified_name"), found.properties(name).get("signature"))
        for name in found.names()
    }
    assert {name: parts for name, parts in names.items() if name.startswith("ApiSymbol")} == {
        "ApiSymbol:n#mod.func(a) → T": ("mod.func", "(a) → T"),
        "ApiSymbol:n#mod.other → int": ("mod.other", "→ int"),
        "ApiSymbol:n#mod.name": ("mod.name", None),
        "ApiSymbol:n#f.g(x, y)": ("f.g", "(x, y)"),
    }
    assert found.labels("Section:n#plain") == found.labels("Section:other#mod.func(a) → T") == ("Section",)
    alone = derive(vault, profile(chunks=Chunks(), key_from_heading=rule))
    assert ranges_of_label(alone.graph, "Section") == []
    assert ("ApiSymbol:n#mod.name", "HAS_CHUNK", "Chunk:n#In~chunk1") in alone.relationships()
    assert alone.properties("Chunk:n#In~chunk1")["section_id"] == "n#mod.name"


def test_a_rule_that_makes_nothing_is_a_problem(derive, of):
    rules = profile(
        sections=Sections(),
        chunks=Chunks(),
        key_from_heading=KeyFromHeading(under_label="Api"),
        tables=(TableRule("x", "HAS", label="X"), TableRule("y", "R", edges=True), TableRule("z", "R", edges=True)),
    )
    pieces = [of(PieceKind.CHUNK, "~chunk1"), of(PieceKind.EDGE, "", rule=2, size=1)]
    found = derive({"n.md": {"pieces": pieces}}, rules)
    unused = found.built.problems.filter(code="unused-rule")
    assert unused["path"].to_list() == [".kglite/vault.yaml"] * 4
    assert [message.split()[0] for message in unused["message"]] == [
        "structure.key_from_heading",
        "structure.sections",
        "structure.tables[0]",
        "structure.tables[1]",
    ]
    assert derive({"n.md": {}}, profile(chunks=Chunks())).problems("unused-rule") == [(".kglite/vault.yaml", None)]
    assert derive({"n.md": {}}).problems("unused-rule") == []
