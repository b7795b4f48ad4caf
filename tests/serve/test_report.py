"""The report of a build: what it counts, how problems are grouped, and that text and data agree."""

import json
from dataclasses import replace

import polars as pl
import pytest

from vaultgraph.serve.problems import GROUP_FROM, GROUP_SHOWN, TARGETS_SHOWN, problem_lines
from vaultgraph.serve.report import report_data, report_text
from vaultgraph.vault.vault import open_vault

SCHEMA = {"path": pl.String, "line": pl.Int32, "code": pl.String, "severity": pl.String, "message": pl.String}
CONFIGURED = {
    "A.md": "---\ntags: [x]\n---\n# A\n[[B]] [[Gone]] ![[lost.png]]\n",
    "B.md": "# B\n",
    "Skipped.md": "---\nkg_skip: true\n---\n",
    ".kglite/vault.yaml": (
        "kglite_vault: 1\nindexes: {Note: [title, stem]}\ntext_indexes: {Note: [body]}\nembed: {Note: body}\n"
    ),
    ".kglite/skills/tour.md": "---\nname: tour\ndescription: Where to start.\n---\nRead A first.\n",
}


def problems(*rows):
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


@pytest.fixture
def report_of(write):
    """The report of a vault with these files."""

    def build(files):
        with open_vault(write(files), None) as vault:
            return vault.report

    return build


def test_the_report_has_counts_and_what_is_declared(report_of):
    lines = report_text(report_of(CONFIGURED)).splitlines()
    assert lines[0] == "files scanned: 3"
    assert lines[1] == "notes: 2 (beside them 1 skipped by kg_skip)"
    assert lines[2].startswith("nodes: 5 (Note 2, ")
    assert "dangling links: 1" in lines
    assert "missing attachments: 1" in lines
    assert "ambiguous attachments: 0" in lines
    assert "indexes: 2 (Note.title, Note.stem) · text indexes: 1 (Note.body)" in lines
    assert "skills: 1 (tour) · recipes: 0" in lines
    assert "embed targets: Note.body" in lines
    assert not any(line.startswith("nodes from parts") for line in lines)


def test_a_vault_that_declares_nothing_says_so(report_of):
    text = report_text(report_of({"A.md": "a"}))
    assert "\nindexes: 0 · text indexes: 0\nskills: 0 · recipes: 0\nembed targets: none\n" in text
    assert "without effect" not in text


def test_keys_without_effect_are_named(report_of):
    report = replace(report_of({"A.md": "a"}), ignored_keys=("language", "od\nd"), derived={"sections": 2, "tasks": 1})
    lines = report_text(report).splitlines()
    assert "configured, without effect in this version: language, od\\nd" in lines
    assert "nodes from parts of notes: 3 (sections 2, tasks 1)" in lines
    assert report_data(report)["ignored_keys"] == ["language", "od\nd"]


def test_the_data_has_everything_of_the_text_as_json(report_of):
    report = report_of(CONFIGURED)
    data = json.loads(json.dumps(report_data(report)))
    assert data["indexes"] == {"Note": ["title", "stem"]}
    assert data["text_indexes"] == {"Note": ["body"]}
    assert data["embed"] == {"Note": "body"}
    assert (data["skills"], data["recipes"]) == (["tour"], [])
    assert data["counts"]["skipped_notes"] == 1
    assert data["problem_counts"] == {"error": 0, "warning": 0, "info": 2}
    assert [row["code"] for row in data["problems"]] == ["missing-attachment", "unresolved-link"]
    assert {"files", "notes", "nodes", "labels", "derived", "relationships", "types", "parsed", "origin"} <= set(data)


def test_problems_come_by_severity_with_place_code_and_message():
    frame = problems(
        ("b.md", 4, "bad-tag", "info", "not a tag"),
        ("a.md", None, "not-utf8", "warning", "not UTF-8"),
        ("a.md", 2, "outside-vault", "error", "out"),
        ("a.md", 2, "outside-vault", "error", "out"),
    )
    assert list(problem_lines(frame)) == [
        "errors (2):",
        "  a.md:2 outside-vault out ×2",
        "warnings (1):",
        "  a.md not-utf8 not UTF-8",
        "infos (1):",
        "  b.md:4 bad-tag not a tag",
    ]


def test_up_to_twenty_of_a_code_are_listed_and_more_are_grouped():
    def lines(count):
        return list(
            problem_lines(problems(*[(f"n{at:02}.md", at, "bad-tag", "info", f"tag {at}") for at in range(count)]))
        )

    assert len(lines(GROUP_FROM)) == 1 + GROUP_FROM
    head, group, *shown, advice = lines(GROUP_FROM + 1)
    assert (head, group) == ("infos (21):", "  bad-tag × 21, the first 5:")
    assert shown[0] == "    n00.md:0 tag 0"
    assert len(shown) == GROUP_SHOWN
    assert "CALL vault.problems() YIELD path, line, code, message WHERE code = 'bad-tag'" in advice
    assert "--json" in advice


def test_many_unresolved_links_are_grouped_by_what_they_ask_for():
    rows = [(f"n{at:02}.md", at, "unresolved-link", "info", "No note is named 'Don't'.") for at in range(15)]
    rows += [("z.md", at, "unresolved-link", "info", f"No note is named 'T{at:02}'.") for at in range(12)]
    head, group, *shown, advice = problem_lines(problems(*rows))
    assert head == "infos (27):"
    assert group == f"  unresolved-link × 27, by target, the {TARGETS_SHOWN} most asked for of 13:"
    assert shown[0] == "    Don't: 15 links, from n00.md:0, n01.md:1, n02.md:2, …"
    assert shown[1] == "    T00: 1 link, from z.md:0"
    assert len(shown) == TARGETS_SHOWN
    assert "'unresolved-link'" in advice


def test_what_a_hostile_vault_writes_stays_on_its_line(report_of):
    lines = list(problem_lines(problems(("a\nb.md", 1, "bad-tag", "info", "x\r\ny\u2028z"))))
    assert len(lines) == 2
    assert not any(mark in lines[1] for mark in "\n\r\u2028")


def test_problems_are_a_table_for_queries_through_the_server(local, write):
    notes = {f"sub/N{at:02}.md": f"[[Gone]] [[Lost {at}]]" for at in range(12)}
    vault = local(write({**notes, "Broken.md": "---\ntags: [a\n---\nx", "A.md": "# A\n## Two\n![[N01|one]]\n"}))

    def rows(query, **params):
        return vault.call("cypher_query", query=query, params=params, format="json").structured["rows"]

    counted = "CALL vault.problems() YIELD code, severity RETURN code, severity, count(*) AS n ORDER BY n DESC, code"
    assert rows(counted) == [["unresolved-link", "info", 24], ["bad-frontmatter", "error", 1]]
    by_path = (
        "CALL vault.problems() YIELD path, line, code, message WHERE code = $code AND path STARTS WITH 'sub/' "
        "AND message CONTAINS 'Lost 3' RETURN path, line, message"
    )
    assert rows(by_path, code="unresolved-link") == [["sub/N03.md", 1, "No note is named 'Lost 3'."]]
    joined = (
        "CALL vault.problems() YIELD path, severity WHERE severity = 'error' "
        "MATCH (n:Note {path: path}) RETURN n.title AS title, collect(severity) AS found"
    )
    assert rows(joined) == [["Broken", ["error"]]]
    assert rows("CALL vault.problems() YIELD line RETURN count(line) AS n, min(line) AS least") == [[25, 1]]
    assert "All of a code: CALL vault.problems()" in vault.text("graph_overview", problems=True)


def test_headings_and_links_are_tables_too(local, write):
    vault = local(
        write(
            {
                "A.md": "---\nup: '[[B]]'\n---\n# A\n## Two\n![[B#Part|one]] [web](https://example.org)\n",
                "B.md": "# B\n",
                "S.md": "---\nkg_skip: true\n---\n# Never\n[[A]]\n",
            }
        )
    )

    def rows(query):
        return vault.call("cypher_query", query=query, format="json").structured["rows"]

    assert rows("CALL vault.headings() YIELD path, line, level, text RETURN path, line, level, text") == [
        ["A.md", 4, 1, "A"],
        ["A.md", 5, 2, "Two"],
        ["B.md", 1, 1, "B"],
    ]
    columns = ("path", "line", "target", "anchor", "display", "is_embed", "section", "property")
    asked = f"CALL vault.links() YIELD {', '.join(columns)} RETURN {', '.join(columns)}"
    assert rows(asked) == [
        ["A.md", 2, "B", None, None, False, None, "up"],
        ["A.md", 6, "B", "Part", "one", True, "Two", None],
        ["A.md", 6, "https://example.org", None, "web", False, "Two", None],
    ]
    assert rows(
        "MATCH (n:Note) CALL vault.headings() YIELD path, text WHERE path = n.path RETURN count(text) AS n"
    ) == [[3]]


def test_the_reference_names_every_procedure(local, write):
    vault = local(write({"A.md": "a"}))
    text = vault.text("graph_overview", cypher=["procedures"])
    names = vault.call("cypher_query", query="CALL dbms.procedures() YIELD name RETURN name", format="json").structured
    assert [name for (name,) in names["rows"] if f"{name}(" not in text] == []
