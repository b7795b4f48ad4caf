"""What `links` answers about a note: its own links, those to it, what is not there, and how far they are followed."""

import re

import pytest

from vaultgraph.cli.vault_commands import command_query
from vaultgraph.serve import links as links_module

NOTES = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n\n[[Boats/Selkie#Rig]] and [[Gone]].\n\n[[Home]]\n",
    "Boats/Selkie.md": "# Selkie\n\n![[selkie.png]]\n\n## Rig\n\nAs on [[Fulmar]].\n",
    "Boats/Fulmar.md": "# Fulmar\n\nSee [[Knots]].\n",
    "Knots.md": "Back to [[Start]].\n",
    "Alone.md": "none\n",
    "Board.canvas": '{"nodes": [{"id": "a", "type": "file", "file": "Home.md"}]}',
}
PARTS = {".kglite/vault.yaml": "kglite_vault: 1\nstructure: {sections: {}}\n"}


@pytest.fixture
def vault(local, write, make_image):
    return local(write({**NOTES, "selkie.png": make_image()}))


def rows(text: str) -> list[str]:
    """Without the line below the rows that tells the time."""
    return text.split("\n")[:-1]


def test_a_note_is_answered_with_its_links_those_to_it_and_what_is_not_there(vault):
    assert rows(vault.text("links", note="Start")) == [
        "direction\tpath\tline\ttype\tanchor",
        "out\tBoats/Selkie.md\t6\tLINKS_TO\tRig",
        "unresolved\tGone\t6\tLINKS_TO\tnull",
        "out\tHome.md\t8\tLINKS_TO\tnull",
        "in\tBoard.canvas\t1\tLINKS_TO\tnull",
        "in\tKnots.md\t1\tLINKS_TO\tnull",
        "Home.md: 2 out, 2 in, 1 unresolved",
    ]


def test_one_direction_is_what_the_command_of_that_name_answers(vault):
    snapshot = vault.session.vault().current()
    for direction, command, end in (("out", "links", "target"), ("in", "backlinks", "path")):
        query = command_query(command, snapshot.graph, "Note")
        for path in NOTES:
            answer = vault.call("cypher_query", query=query, params={"path": path}, format="json").structured
            place = answer["columns"].index(end), answer["columns"].index("line")
            found = rows(vault.text("links", note=path, direction=direction))[1:-1]
            assert [tuple(row.split("\t")[1:3]) for row in found] == [
                (row[place[0]], str(row[place[1]])) for row in answer["rows"]
            ]


def test_with_depth_the_notes_found_are_asked_too_and_each_link_is_told_once(vault):
    assert rows(vault.text("links", note="Knots", direction="out", depth=3)) == [
        "depth\tof\tdirection\tpath\tline\ttype\tanchor",
        "1\tKnots.md\tout\tHome.md\t1\tLINKS_TO\tnull",
        "2\tHome.md\tout\tBoats/Selkie.md\t6\tLINKS_TO\tRig",
        "2\tHome.md\tunresolved\tGone\t6\tLINKS_TO\tnull",
        "2\tHome.md\tout\tHome.md\t8\tLINKS_TO\tnull",
        "3\tBoats/Selkie.md\tout\tselkie.png\t3\tHAS_IMAGE\tnull",
        "3\tBoats/Selkie.md\tout\tBoats/Fulmar.md\t7\tLINKS_TO\tnull",
        "Knots.md: 5 out, 0 in, 1 unresolved",
    ]
    everywhere = rows(vault.text("links", note="Knots", depth=4))[1:-1]
    assert len(everywhere) == 8  # every link of the vault
    assert (
        len({tuple(sorted(row.split("\t")[index] for index in (1, 3)) + row.split("\t")[4:]) for row in everywhere})
        == 8
    )


def test_notes_that_are_not_followed_are_counted(vault, monkeypatch):
    monkeypatch.setattr(links_module, "MOST_FOLLOWED", 1)
    text = vault.text("links", note="Home", depth=2)
    assert "\ndepth 2: links of 1 of 3 notes are listed\n" in text


def test_a_note_without_links_and_an_image_are_answered_too(vault):
    assert rows(vault.text("links", note="Alone"))[-1] == "Alone.md: 0 out, 0 in, 0 unresolved"
    assert "in\tBoats/Selkie.md\t3\tHAS_IMAGE\tnull" in vault.text("links", note="selkie.png")
    assert vault.text("links", note="Board.canvas").startswith("direction\tpath\tline\ttype\tanchor\nout\tHome.md\t1")


@pytest.mark.parametrize("name", ["selkie.md", "Boats/Selkie", "[[Selkie#Rig|rig]]", "/boats/selkie.MD", "Selkie"])
def test_a_note_is_meant_by_its_file_name_or_a_link_too(vault, name):
    assert "Boats/Selkie.md: 2 out, 1 in, 0 unresolved" in vault.text("links", note=name)


def test_what_is_no_note_of_the_graph_is_refused_with_the_way_to_name_one(vault):
    assert vault.error("links", note=" ").startswith("parameter: `note` is empty. Pass the path, id, title")
    message = vault.error("links", note="none like it")
    assert message.endswith("no note of the graph is called so. Pass the path, id, title or an alias of one.")
    assert "Did you mean `both`?" in vault.error("links", note="Home", direction="bth")
    assert "at least 1" in vault.error("links", note="Home", depth=0)


def test_a_link_to_a_part_of_a_note_counts_for_the_note(local, write):
    vault = local(write({**NOTES, **PARTS}))
    assert "out\tBoats/Selkie.md\t6\tLINKS_TO\tRig" in vault.text("links", note="Home")
    assert "in\tHome.md\t6\tLINKS_TO\tRig" in vault.text("links", note="Selkie")


def test_more_links_than_a_reply_holds_come_in_parts(local, write):
    vault = local(write({"Hub.md": "# Hub\n", **{f"Notes/Note {n:04}.md": "[[Hub]]\n" for n in range(900)}}))
    first = vault.text("links", note="Hub")
    assert "Hub.md: 0 out, 900 in, 0 unresolved" in first
    result_id = re.search(r'expand_response\(result_id="(\w+)"', first)[1]
    seen = first.count("\tLINKS_TO\t")
    while seen < 900:
        seen += vault.text("expand_response", result_id=result_id).count("\tLINKS_TO\t")
    assert seen == 900
