"""Values written otherwise than they are stored: `value_codecs` of a manifest in queries, answers and samples."""

import pytest

from vaultgraph.serve.manifest import Manifest, ValueCodec

NOTES = {
    "A.md": "---\nstatus: done\ncode: 42\nsite: Q5\nmixed: 1\ndue: 2026-01-31\nlist: [done]\n---\n[[B]]\n",
    "B.md": "---\nstatus: todo\ncode: 7\nsite: other\nmixed: one\n---\n",
    "C.md": "---\nstatus: odd\nmixed: true\n---\n",
}
STATUS = ValueCodec("status", "map", values={"finished": "done", "open": "todo"})
CODE = ValueCodec("code", "prefix", prefix="c-")
SITE = ValueCodec("site", "regex", match="^site:(Q.*)$", decode="$1", encode=("^(.*)$", "site:$1"))


@pytest.fixture
def served(local, write):
    def start(*codecs: ValueCodec):
        vault = local(write(NOTES))
        vault.session.manifest = Manifest(value_codecs=codecs)
        return vault

    return start


@pytest.fixture
def rows(served):
    """The rows of a query under some codecs."""

    def run(query: str, *codecs: ValueCodec, **more):
        return served(*codecs).call("cypher_query", query=query, format="json", **more).structured["rows"]

    return run


def test_a_map_is_what_queries_and_answers_have(rows):
    assert rows("MATCH (n {status: 'finished'}) RETURN n.status, n.title", STATUS) == [["finished", "A"]]
    assert rows("MATCH (n:Note) WITH n.status AS s RETURN s ORDER BY s", STATUS) == [["finished"], ["odd"], ["open"]]
    assert rows("MATCH (n:Note) WHERE n.status IN $s RETURN n.title", STATUS, params={"s": ["open"]}) == [["B"]]
    assert rows("MATCH (n:Note) WHERE n.status STARTS WITH 'fin' RETURN n.title", STATUS) == [["A"]]


def test_a_prefix_stands_before_numbers_too(rows):
    assert rows("MATCH (n {code: 'c-42'}) RETURN n.code, n.title", CODE) == [["c-42", "A"]]
    assert rows("MATCH (n:Note) RETURN n.code ORDER BY n.title", CODE) == [["c-42"], ["c-7"], [None]]


def test_a_pattern_writes_only_what_it_leads_back_from(rows):
    assert rows("MATCH (n {site: 'site:Q5'}) RETURN n.site", SITE) == [["site:Q5"]]
    assert rows("MATCH (n {title: 'B'}) RETURN n.site", SITE) == [["other"]]


def test_a_pattern_of_one_group_is_turned_round(rows):
    codec = ValueCodec("site", "regex", match="^site:(.*)$", decode="$1")
    assert rows("MATCH (n:Note) RETURN n.site ORDER BY n.title", codec) == [["site:Q5"], ["site:other"], [None]]


def test_cells_that_differ_in_type_are_written_each_by_its_own(rows):
    codec = ValueCodec("mixed", "map", values={"single": 1, "yes": True, "first": "one"})
    assert rows("MATCH (n:Note) RETURN n.mixed ORDER BY n.title", codec) == [["single"], ["first"], ["yes"]]
    half = ValueCodec("code", "map", values={"big": 42})
    assert rows("MATCH (n:Note) RETURN n.code ORDER BY n.title", half) == [["big"], [7], [None]]


def test_only_values_of_the_stored_type_are_written(rows):
    codec = ValueCodec("mixed", "prefix", prefix="x", stored_type="int")
    assert rows("MATCH (n:Note) RETURN n.mixed ORDER BY n.title", codec) == [["x1"], ["one"], [True]]


def test_dates_and_lists_stay_as_they_are(rows):
    codecs = [ValueCodec(name, "prefix", prefix="x") for name in ("due", "list")]
    assert rows("MATCH (n {title: 'A'}) RETURN n.due, n.list", *codecs) == [["2026-01-31", ["done"]]]


def test_nodes_samples_and_recipes_have_the_same_values(served):
    vault = served(STATUS, CODE)
    assert 'status: "finished"' in vault.text("cypher_query", query="MATCH (n {title: 'A'}) RETURN n")
    (line,) = [line for line in vault.text("graph_overview", types=["Note"]).split("\n") if "status" in line]
    assert "finished" in line
    assert "done" not in line


def test_an_edit_is_written_anew(served, write):
    vault = served(STATUS)
    count = "MATCH (n {status: 'finished'}) RETURN count(n) AS n"
    assert vault.text("cypher_query", query=count).startswith("n\n1\n")
    write({"D.md": "---\nstatus: done\n---\n"})
    vault.session.vault().refresh()
    assert vault.text("cypher_query", query=count).startswith("n\n2\n")


def test_relationships_have_the_values_too(rows):
    codec = ValueCodec("line", "prefix", prefix="line ")
    assert rows("MATCH ()-[r:LINKS_TO]->() RETURN r.line", codec) == [["line 9"]]
