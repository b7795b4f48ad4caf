"""links, backlinks, unresolved, orphans, deadends, outline, tags: what they list, and how notes are named."""

import csv
import io
import json

import pytest

from vaultgraph.cli.vault_commands import command_query
from vaultgraph.cypher.query import run_query
from vaultgraph.serve.vault_queries import QUERIES
from vaultgraph.vault.vault import open_vault

NOTES = {
    "Home.md": "---\ntags: [hub, area/home]\nup: '[[Plan]]'\n---\n# Home\n[[Plan]] [[Plan#Steps|steps]]\n![[map.png]]\n"
    "[[Nowhere]] and [[Nowhere]]\n\n[[Nowhere]] #hub\n\n## Later\n\n[[nowhere|again]] ![[lost.png]]\n",
    "sub/Plan.md": "---\naliases: [The Plan, scheme]\n---\n# Plan\n\n## Steps\n\n"
    "```\n# no heading\n```\n\n### Third\n[[Plan]]\n",
    "Alone.md": "no links, https://example.org, [[Alone]]",
    "Mute.md": "nothing at all",
    "From canvas.md": "![[Home]]",
    "Board.canvas": '{"nodes": [{"id": "1", "type": "file", "file": "Mute.md"}], "edges": []}',
    "map.png": b"\x89PNG\r\n\x1a\n",
    "Hidden.md": "---\nkg_skip: true\n---\n# Hidden\n[[Mute]]",
}


@pytest.fixture
def listed(vaultgraph, write):
    """The rows of a command on the vault above, as JSON gives them."""
    folder = write(NOTES)

    def run(name, *arguments):
        done = vaultgraph(name, folder, *arguments, "--format", "json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return run


def test_links_are_in_order_of_line_and_say_what_is_not_there(listed):
    rows = listed("links", "Home")
    assert [(row["line"], row["type"], row["target"], row["anchor"], row["resolved"]) for row in rows] == [
        (3, "UP", "sub/Plan.md", None, True),
        (6, "LINKS_TO", "sub/Plan.md", "Steps", True),
        (6, "LINKS_TO", "sub/Plan.md", None, True),
        (7, "HAS_IMAGE", "map.png", None, True),
        (8, "LINKS_TO", "Nowhere", None, False),
        (14, "LINKS_TO", "Nowhere", None, False),
        (14, "HAS_IMAGE", "lost.png", None, False),
    ]


def test_backlinks_are_links_embeds_and_properties_by_path_and_line(listed):
    rows = listed("backlinks", "Plan")
    assert [(row["path"], row["line"], row["type"]) for row in rows] == [
        ("Home.md", 3, "UP"),
        ("Home.md", 6, "LINKS_TO"),
        ("Home.md", 6, "LINKS_TO"),
        ("sub/Plan.md", 13, "LINKS_TO"),
    ]
    assert [row["type"] for row in listed("backlinks", "Home")] == ["EMBEDS"]


def test_unresolved_names_every_source_by_path_and_line(listed):
    assert listed("unresolved") == [
        {"target": "Nowhere", "links": 4, "sources": ["Home.md:14", "Home.md:8"]},
        {"target": "lost.png", "links": 1, "sources": ["Home.md:14"]},
    ]


def test_orphans_have_no_link_from_another_file(listed):
    # A link to itself, a folder, a tag or a link from a note that is not in the graph save no note; a canvas does.
    assert [row["path"] for row in listed("orphans")] == ["Alone.md", "From canvas.md"]


def test_deadends_lead_nowhere_in_the_vault(listed):
    assert [row["path"] for row in listed("deadends")] == ["Mute.md"]


def test_an_outline_has_headings_with_level_and_line_and_no_code(listed):
    assert listed("outline", "Plan") == [
        {"level": 1, "text": "Plan", "line": 4},
        {"level": 2, "text": "Steps", "line": 6},
        {"level": 3, "text": "Third", "line": 12},
    ]


def test_tags_of_the_vault_count_notes_and_those_of_a_note_have_lines(listed):
    assert listed("tags") == [{"tag": "#area/home", "notes": 1}, {"tag": "#hub", "notes": 1}]
    assert listed("tags", "Home") == [{"tag": "#area/home", "line": 2}, {"tag": "#hub", "line": 2}]
    assert listed("tags", "Mute") == []


@pytest.mark.parametrize(
    "name", ["Plan", "plan.md", "sub/Plan", "SUB/plan.md", "the plan", "[[scheme|x]]", "[[Plan#Steps]]"]
)
def test_a_note_is_named_as_a_link_would_name_it(listed, name):
    assert [row["text"] for row in listed("outline", name)] == ["Plan", "Steps", "Third"]


def test_a_canvas_has_links_too(listed):
    assert [row["target"] for row in listed("links", "Board.canvas")] == ["Mute.md"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Plann", "Plann: there is no such note. Did you mean sub/Plan.md?"),
        ("zzzzzz", "zzzzzz: there is no such note. Name it by its path, name, title or alias."),
        ("map.png", "map.png: is not a note."),
        ("Hidden", "Hidden.md: is not in the graph"),
        (" ", "NOTE is empty"),
        (".", ".: is not a note."),
        ("../x", "../x"),
    ],
)
def test_a_name_that_means_no_note_says_so_in_one_line(vaultgraph, write, name, says):
    done = vaultgraph("links", write(NOTES), name)
    assert done.code == 1
    assert done.out == ""
    assert done.err.startswith("vaultgraph: ")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_a_name_that_is_no_text_is_refused(vaultgraph, write):
    done = vaultgraph("links", write(NOTES), "\udcff")
    assert (done.code, done.err) == (2, "vaultgraph: NOTE is not valid UTF-8.\n")


def test_a_name_of_several_notes_lists_their_paths(vaultgraph, write):
    folder = write({"a/Twin.md": "1", "b/Twin.md": "2"})
    done = vaultgraph("backlinks", folder, "Twin")
    assert done.code == 1
    assert "2 notes are called `Twin`" in done.err
    assert "  a/Twin.md\n  b/Twin.md\n" in done.err


def test_formats_and_the_total(vaultgraph, write):
    folder = write(NOTES)
    rows = list(csv.reader(io.StringIO(vaultgraph("orphans", folder, "--format", "csv").out)))
    assert rows == [["path"], ["Alone.md"], ["From canvas.md"]]
    assert vaultgraph("orphans", folder).out.splitlines()[-1] == "2 rows"
    for name, count in (("orphans", "2"), ("unresolved", "2"), ("tags", "2"), ("deadends", "1")):
        assert vaultgraph(name, folder, "--total").out == f"{count}\n"
    assert vaultgraph("outline", folder, "Mute", "--total").out == "0\n"


def test_no_command_warns_of_names_the_vault_lacks(vaultgraph, write):
    folder = write({"A.md": "a"})
    for name in ("unresolved", "orphans", "deadends", "tags"):
        done = vaultgraph(name, folder)
        assert (done.code, done.err) == (0, "")


def test_a_renamed_note_label_is_asked_for(vaultgraph, write):
    folder = write({"A.md": "[[A]]", ".kglite/vaultgraph.yaml": "note_label: My page\n"})
    assert json.loads(vaultgraph("orphans", folder, "--format", "json").out) == [{"path": "A.md"}]


def test_flags_that_make_no_sense_exit_2(vaultgraph, write):
    folder = write(NOTES)
    assert vaultgraph("orphans", folder, "Home").code == 2
    assert vaultgraph("links", folder).code == 2
    assert vaultgraph("tags", folder, "--format", "yaml").code == 2
    assert vaultgraph("links", folder / "none", "x").code == 1


@pytest.fixture(scope="module")
def parted(make_graph):
    """A note with a section that another note links to; the section's own relationship has no line."""
    nodes = [
        (("Note",), {"path": "A.md", "file_path": "A.md", "id": "A", "title": "A"}),
        (("Note",), {"path": "B.md", "file_path": "B.md", "id": "B", "title": "B"}),
        (("Note",), {"path": "C.md", "file_path": "C.md", "id": "C", "title": "C"}),
        (("Section",), {"id": "A#S", "note_id": "A", "title": "S", "_provisional": None, "missing": None}),
        (("Section",), {"id": "C#S", "note_id": "C", "title": "S"}),
        (("Concept",), {"id": "X", "title": "X", "_provisional": True}),
    ]
    relationships = [
        (0, "HAS_SECTION", 3, {}),
        (2, "HAS_SECTION", 4, {}),
        (1, "LINKS_TO", 3, {"line": 3, "anchor": "S", "count": 1}),
        (2, "LINKS_TO", 4, {"line": 5, "anchor": "S", "count": 1}),
    ]
    return make_graph(nodes, relationships)


def test_a_link_to_a_part_of_a_note_is_a_link_to_the_note(parted):
    def rows(name, **parameters):
        return run_query(parted, command_query(name, parted, "Note"), parameters).rows

    assert rows("backlinks", path="A.md") == [("B.md", 3, "LINKS_TO", "S")]
    assert rows("links", path="B.md") == [(3, "LINKS_TO", "A.md", "S", True)]
    assert rows("orphans") == [("B.md",), ("C.md",)]
    assert rows("deadends") == [("A.md",)]


def test_without_parts_the_plain_queries_are_used(make_graph):
    graph = make_graph([(("Note",), {"path": "A.md"})], [])
    assert {name: command_query(name, graph, "Note") for name in QUERIES} == QUERIES
    assert "(n:`a b`)" in command_query("orphans", graph, "a b")


def test_a_cache_file_alone_answers_with_problems_headings_and_links(vaultgraph, write):
    folder = write(NOTES)
    assert vaultgraph("build", folder).code == 0
    cache = folder / ".kglite" / "graph.kgl"
    queries = {
        "CALL vault.problems() YIELD code RETURN code, count(*) AS n ORDER BY code": [
            {"code": "missing-attachment", "n": 1},
            {"code": "unresolved-link", "n": 4},
        ],
        "CALL vault.headings() YIELD path, text WHERE path STARTS WITH 'sub/' RETURN collect(text) AS texts": [
            {"texts": ["Plan", "Steps", "Third"]}
        ],
        "CALL vault.links() YIELD path, is_embed WHERE is_embed RETURN path, count(*) AS n ORDER BY path": [
            {"path": "From canvas.md", "n": 1},
            {"path": "Home.md", "n": 2},
        ],
    }
    for query, rows in queries.items():
        done = vaultgraph("query", cache, query, "--format", "json")
        assert json.loads(done.out) == rows, done.err


def test_check_as_json_lists_every_problem_and_what_is_declared(vaultgraph, write):
    links = {f"N{at}.md": f"[[Lost {at}]]" for at in range(30)}
    folder = write({**links, ".kglite/vault.yaml": "kglite_vault: 1\nembed: {Note: body}\n"})
    text, data = vaultgraph("check", folder), json.loads(vaultgraph("check", folder, "--json").out)
    assert "unresolved-link × 30, by target, the 10 most asked for of 30:" in text.out
    assert len(data["problems"]) == 30
    assert (data["embed"], data["indexes"], data["recipes"]) == ({"Note": "body"}, {}, [])
    assert "embed targets: Note.body" in text.out


def test_with_sections_as_nodes_the_commands_answer_as_without(vaultgraph, write):
    """`links` too names the note, with the heading as anchor; a link to its own section saves a note from nothing."""
    files = {
        "A.md": "# A\n\n## One\n\ntext\n\n[[#One]]\n",
        "B.md": "# B\n\n[[A#One]] [[A]] [[A#One|again]]\n\n[[Lost]]\n",
        "C.md": "# C\n\n[[#C]]\n",
    }
    asked = [("backlinks", "A"), ("orphans",), ("deadends",), ("unresolved",), ("outline", "A")]

    def answers(folder):
        return [json.loads(vaultgraph(name, folder, *note, "--format", "json").out) for name, *note in asked]

    folder = write(files)
    plain = answers(folder)
    assert [row["path"] for row in plain[0]] == ["A.md", "B.md", "B.md", "B.md"]
    assert plain[1] == [{"path": "B.md"}, {"path": "C.md"}]
    write({".kglite/vault.yaml": "kglite_vault: 1\nstructure:\n  sections: {}\n"})
    assert answers(folder) == plain
    targets = [row["target"] for row in json.loads(vaultgraph("links", folder, "B", "--format", "json").out)]
    assert targets == ["A.md", "A.md", "A.md", "Lost"]
    assert "nodes from parts of notes: 4 (sections 4)\n" in vaultgraph("check", folder).out


TABLES = {
    ".kglite/vault.yaml": "kglite_vault: 1\nstructure:\n  sections: {}\n  tables:\n"
    "  - {under_heading: ^Worked at$, edge: WORKED_AT, edges: true}\n",
    "A.md": "# A\n\n[[B#Heading]]\n\n## Worked at\n\n| where | role |\n|---|---|\n| [[Firm]] | boss |\n"
    "| [[B]] | clerk |\n",
    "B.md": "# B\n\n## Heading\n\ntext\n",
}


def test_a_link_to_a_part_has_the_path_of_its_note_as_target(vaultgraph, write):
    links = json.loads(vaultgraph("links", write(TABLES), "A", "--format", "json", "--vault-cache", "none").out)
    assert (links[0]["target"], links[0]["anchor"]) == ("B.md", "Heading")
    assert {link["target"] for link in links} == {"B.md", "Firm"}


def test_a_link_in_a_row_of_a_table_counts_once(vaultgraph, write):
    folder = write(TABLES)
    done = vaultgraph("unresolved", folder, "--format", "json", "--vault-cache", "none")
    assert json.loads(done.out) == [{"target": "Firm", "links": 1, "sources": ["A.md:9"]}]
    assert done.err == ""
    rows = vaultgraph("query", folder, "CALL vault.unresolved()", "--format", "json", "--vault-cache", "none")
    assert json.loads(rows.out) == [{"target": "Firm", "path": "A.md", "line": 9}]


def test_orphans_of_a_vault_that_renames_the_label_of_notes(vaultgraph, write):
    folder = write({**TABLES, ".kglite/vaultgraph.yaml": "note_label: Page\n"})
    done = vaultgraph("query", folder, "CALL vault.orphans() YIELD path", "--format", "json", "--vault-cache", "none")
    assert json.loads(done.out) == [{"path": "A.md"}]


VALID = {
    ".kglite/vaultgraph.yaml": "valid_time: {labels: {Job: {from: since, to: until}}}\n",
    "Old.md": "---\ntype: Job\nsince: 2000-01-01\nuntil: 2009-12-31\n---\n",
    "New.md": "---\ntype: Job\nsince: 2010-01-01\n---\n",
}


def test_a_query_is_asked_as_of_a_day_of_a_folder_and_of_a_file(vaultgraph, write):
    folder = write(VALID)
    vaultgraph("build", folder)
    query = "MATCH (j:Job) RETURN j.title AS job ORDER BY job"
    for place in (folder, folder / ".kglite/graph.kgl"):
        for flags, jobs in (
            ((), ["New", "Old"]),
            (("--valid-at", "2005-06-01"), ["Old"]),
            (("--valid-at", "today"), ["New"]),
        ):
            done = vaultgraph("query", place, query, *flags, "--format", "json")
            assert [row["job"] for row in json.loads(done.out)] == jobs
    prefixed = vaultgraph("query", folder, f"FOR VALID_TIME AS OF '2005-06-01' {query}", "--format", "csv")
    assert prefixed.out.split() == ["job", "Old"]
    wrong = vaultgraph("query", folder, query, "--valid-at", "soon")
    assert (wrong.code, wrong.out) == (1, "")
    assert "must be a date such as 2026-01-31" in wrong.err
    with open_vault(folder) as vault:
        assert vault.query(query, valid_at="2005-06-01").rows == [("Old",)]
        assert len(vault.query(query)) == 2
