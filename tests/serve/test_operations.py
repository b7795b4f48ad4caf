"""The operations on a real vault, through dispatch: what they answer and how their errors teach."""

import json
import re
from threading import Event

import pytest

from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.operations import OPERATIONS

AS_OF = r"{} · gen 1 · \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def vault(local, sample):
    return local(sample)


def test_rows_are_a_header_tab_separated_lines_and_a_last_line(vault):
    text = vault.text("cypher_query", query="MATCH (b:Boat) RETURN b.title AS boat, b.length, b.built ORDER BY boat")
    rows, _, last = text.rpartition("\n")
    assert rows == "boat\tb.length\tb.built\nFulmar\t9\tnull\nSelkie\t7.5\t1998-05-02"
    assert re.fullmatch(AS_OF.format("2 rows"), last)


def test_a_node_in_a_row_is_short(vault):
    text = vault.text("cypher_query", query="MATCH (b:Boat {title: 'Selkie'}) RETURN b")
    assert text.split("\n")[1] == "(:Boat:Note Boats/Selkie.md {built: 1998-05-02, length: 7.5})"


def test_json_comes_as_structure_with_one_line_of_text(vault):
    answer = vault.call("cypher_query", query="MATCH (b:Boat) RETURN b.title AS t ORDER BY t", format="json")
    as_of = answer.structured.pop("as_of")
    assert answer.structured == {
        "columns": ["t"],
        "rows": [["Fulmar"], ["Selkie"]],
        "row_count": 2,
        "generation": 1,
        "stale": None,
    }
    assert answer.text == f"2 rows · gen 1 · {as_of}"


@pytest.mark.parametrize("arguments", [{"format": "csv"}, {"suffix": " FORMAT CSV"}])
def test_csv_is_one_part_and_the_last_line_another(vault, arguments):
    query = "MATCH (b:Boat) RETURN b.title AS t, b.built AS built ORDER BY t" + arguments.pop("suffix", "")
    answer = vault.call("cypher_query", query=query, **arguments)
    table, last = (part.text for part in answer.parts)
    assert table == "t,built\r\nFulmar,\r\nSelkie,1998-05-02\r\n"
    assert re.fullmatch(AS_OF.format("2 rows"), last)


def test_parameters_are_values_not_text(vault):
    text = vault.text(
        "cypher_query", query="RETURN $name AS n, $list[1] AS l", params={"name": "a' OR 1=1", "list": [1, 2]}
    )
    assert text.split("\n")[1] == "a' OR 1=1\t2"


def test_a_name_the_graph_does_not_know_is_a_warning_with_the_nearest(vault):
    text = vault.text("cypher_query", query="MATCH (n:Baot) RETURN n")
    assert "\nwarning: " in text
    assert "Boat" in text.split("warning: ")[1]
    assert "\n0 rows · gen 1 · 2" in text


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("MATCH (n) RETRUN n", "syntax", ["RETURN", "line 1", "^"]),
        ("RETURN foo(1)", "bind", ["foo"]),
        ("RETURN toLwer('A')", "bind", ["toLower"]),
        ("MATCH (n) RETURN m", "bind", ["m"]),
        ("RETURN $x", "bind", ["$x"]),
        ("CREATE (n)", "read_only", ["edit"]),
        ("RETURN 1 / 0", "evaluation", ["zero"]),
        ("", "syntax", []),
    ],
)
def test_a_wrong_query_is_answered_with_code_place_and_advice(vault, query, code, words):
    message = vault.error("cypher_query", query=query)
    assert message.startswith(f"{code}: ")
    assert all(word in message for word in words), message
    assert "Traceback" not in message


def test_a_deadline_stops_a_query(vault):
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
    assert vault.error("cypher_query", query=slow, timeout_ms=1).startswith("budget: ")


def test_a_cancelled_query_stops(vault):
    cancelled = Event()
    cancelled.set()
    answer = dispatch(vault.session, "cypher_query", {"query": "MATCH (n) RETURN n"}, cancelled)
    assert answer.is_error
    assert "cancelled" in answer.text


def test_unknown_tools_and_arguments_name_the_nearest(vault):
    assert "Did you mean `cypher_query`?" in vault.error("cypher_qery", query="RETURN 1")
    assert "Did you mean `query`?" in vault.error("cypher_query", qurey="RETURN 1")
    assert "`file_path`" in vault.error("read_source")


def test_the_overview_shows_labels_types_freshness_and_problems(vault):
    text = vault.text("graph_overview")
    assert text.startswith("vault · 5 notes, ")
    assert "gen 1 · built " in text
    assert text.split("\n")[1].endswith(" ago) · not watched: later edits show after rebuild_graph")
    assert "Note 5" in text
    assert "Boat 2" in text
    assert "LINKS_TO " in text
    assert "Boat → Image" in text
    assert "Problems: 1 error" in text
    assert 'types:["' in text


def test_the_overview_of_a_label_shows_types_coverage_and_samples(vault):
    text = vault.text("graph_overview", types=["Boat"])
    lines = [line.strip() for line in text.split("\n")]
    assert lines[0] == "Boat: 2 nodes"
    assert "built DATE 50 %: 1998-05-02" in lines
    assert any(
        line.startswith("length ") and "INTEGER" in line and "FLOAT" in line and "100 %" in line for line in lines
    )
    assert "body STRING 100 %" in lines
    assert any(line.startswith("outgoing: ") and "HAS_IMAGE 1" in line for line in lines)
    assert "path STRING 100 %: Boats/Fulmar.md, Boats/Selkie.md" in lines
    assert not any(line.startswith("samples: ") for line in lines)  # they would be the paths once more


def test_the_overview_of_connections_shows_ends_and_properties(vault):
    everything = vault.text("graph_overview", connections=True)
    assert "HAS_IMAGE 1: Boat → Image 1" in everything
    links = vault.text("graph_overview", connections=["HAS_IMAGE"])
    assert "width INTEGER 100 %: 120" in links
    assert "Boats/Selkie.md → media/selkie.png" in links


def test_samples_of_sections_are_ids_and_not_their_headings(local, write):
    folder = write({".kglite/vault.yaml": "kglite_vault: 1\nstructure: {sections: }\n", "A.md": "# One\n## Two\n"})
    lines = local(folder).text("graph_overview", types=["Section"]).split("\n")
    assert "  id STRING 100 %: A#One, A#One#Two" in lines
    assert "A.md" not in "\n".join(lines).partition("samples: ")[2]


def test_unknown_labels_types_and_topics_name_the_nearest(vault):
    assert "Did you mean Boat?" in vault.error("graph_overview", types=["Bota"])
    assert 'Ask for it with connections:["LINKS_TO"].' in vault.error("graph_overview", types=["LINKS_TO"])
    assert 'Ask for it with types:["Boat"].' in vault.error("graph_overview", connections=["Boat"])
    assert "Did you mean LINKS_TO?" in vault.error("graph_overview", connections=["LINKSTO"])
    assert "Did you mean `functions`?" in vault.error("graph_overview", cypher=["function"])


@pytest.mark.parametrize(
    ("word", "topic"),
    [
        ("MATCH", "CLAUSES"),
        ("order by", "CLAUSES"),
        ("MERGE", "CLAUSES"),
        ("Clauses", "CLAUSES"),
        ("shortestPath", "PATTERNS"),
        ("starts with", "OPERATORS"),
        ("=~", "OPERATORS"),
        ("case", "EXPRESSIONS"),
        ("any", "EXPRESSIONS"),
        ("reduce", "EXPRESSIONS"),
        ("DURATION", "duration("),
        ("zoned datetime", "VALUES"),
        ("vault.problems", "PROCEDURES"),
        ("count", "AGGREGATES"),
        ("toUpper", "toUpper("),
        ("TOUPPER", "toUpper("),
        ("HAS_IMAGE", "GRAPH"),
    ],
)
def test_a_word_of_a_query_leads_to_the_topic_that_documents_it(vault, word, topic):
    assert vault.text("graph_overview", cypher=[word]).startswith(topic)


def test_the_way_closer_names_a_label_of_notes(local, write):
    notes = {f"Boats/{name}.md": f"---\ntags: [{name}, b{name}]\n---\n" for name in "abc"}
    assert 'Closer: types:["Boats"]' in local(write(notes)).text("graph_overview")


def test_one_of_a_kind_is_said_in_the_singular(local, write):
    text = local(write({"A.md": "a"})).text("graph_overview")
    assert text.startswith("vault · 1 note, 1 node, 0 relationships\n")


def test_arguments_called_otherwise_lead_to_the_right_ones(vault):
    assert "Did you mean `types`?" in vault.error("graph_overview", label="Boat")
    assert "Did you mean `file_path`?" in vault.error("read_source", path="Home.md")
    assert "Did you mean `pattern`?" in vault.error("grep", query="x")
    assert vault.text("graph_overview", types="Boat").startswith("Boat: 2 nodes")


def test_the_query_reference_fits_into_one_answer_and_knows_functions(vault):
    everything = vault.text("graph_overview", cypher=True)
    assert "expand_response" not in everything
    assert "OPTIONAL MATCH" in everything
    assert "substring(" in everything
    one = vault.text("graph_overview", cypher=["substring"])
    assert one.startswith("substring(")
    assert len(one) < 200


def test_every_example_of_the_reference_runs(vault):
    from vaultgraph.serve.reference import reference_text

    examples = [line.split(": ", 1)[1] for line in reference_text(["examples"]).split("\n")[1:]]
    assert len(examples) >= 5
    for example in examples:
        query = example.removesuffix(" (grep is quicker for lines)").replace("'A.md'", "'Home.md'")
        answer = vault.call("cypher_query", query=query)
        assert not answer.is_error, answer.text


CONSTRUCTS = [
    "MATCH (n:Boat|Image) RETURN count(n)",
    "MATCH (n:Note&!Boat) RETURN count(n)",
    "MATCH (a)<-[:LINKS_TO|HAS_IMAGE]-(b) RETURN count(*)",
    "MATCH (a:Note)-[:LINKS_TO*1..3]->(b) RETURN count(*)",
    "MATCH p = (a:Note)-->(b) RETURN length(p), nodes(p) LIMIT 1",
    "MATCH p = shortestPath((a:Note {stem:'Home'})-[*..5]->(b:Image)) RETURN length(p)",
    "MATCH (a)-->(b), (b)-->(c) RETURN count(*)",
    "MATCH (n) WHERE (n)-->(:Tag) RETURN count(n)",
    "MATCH (n) WHERE NOT (n)-[:LINKS_TO]->() RETURN count(n)",
    "MATCH (n) WHERE EXISTS { (n)-->(m) WHERE m:Image } RETURN count(n)",
    "MATCH (n) WHERE COUNT { (n)-->() } > 1 RETURN count(n)",
    "RETURN 1 < 2 <= 5, 2 ^ 3, 7 % 3, 'a' || 'b', true XOR false",
    "RETURN 'abc' STARTS WITH 'a', 'abc' ENDS WITH 'c', 'abc' CONTAINS 'b', 'ABC' =~ '(?i)abc'",
    "RETURN [1,2,3][0], [1,2,3][-1], [1,2,3,4][1..3], {k: 1}.k, {k: 1}['k']",
    "MATCH (n:Boat) RETURN n['title']",
    "RETURN CASE WHEN true THEN 1 ELSE 2 END, CASE 1 WHEN 1 THEN 'x' END",
    (
        "RETURN [x IN [1,2,3] WHERE x > 1 | x * 2], any(x IN [1] WHERE x = 1), all(x IN [1] WHERE x = 1), "
        "none(x IN [1] WHERE x = 1), single(x IN [1] WHERE x = 1)"
    ),
    "RETURN reduce(acc = 0, x IN [1,2,3] | acc + x)",
    "MATCH (n:Note {stem: 'Home'}) RETURN [(n)-->(m) | m.title], n {.title, .path, key: 1}",
    ("MATCH (n:Boat) WHERE n.built < date() RETURN n.built.year, valueType(n.length), date.truncate('month', n.built)"),
    "RETURN date('2026-05-01') + duration('P7D')",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType",
    "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey",
    "CALL vault.problems() YIELD path, line, code, severity, message RETURN *",
    "MATCH (n) RETURN n.title UNION ALL MATCH (m:Tag) RETURN m.title AS `n.title`",
    "UNWIND [1,2] AS x WITH DISTINCT x ORDER BY x DESC SKIP 1 LIMIT 1 RETURN x",
    "OPTIONAL MATCH (n:Nope) RETURN n",
    "MATCH (n:Note) WHERE n.nothing IS NULL AND n.title IS NOT NULL AND n.stem IN ['Home'] RETURN n.`status`",
]


@pytest.mark.parametrize("query", CONSTRUCTS)
def test_every_construct_the_reference_names_runs(vault, query):
    vault.text("cypher_query", query=query)


def test_problems_are_listed_by_severity_with_path_and_line(vault):
    text = vault.text("graph_overview", problems=True)
    assert text.startswith("Problems: 1 error")
    assert "errors (1):\n  Log/Broken.md:" in text
    assert "Log/Latin.md not-utf8" in text


def test_rebuilding_reports_and_counts_a_generation(vault):
    assert vault.text("ping").startswith("pong\nvaultgraph ")
    text = vault.text("rebuild_graph")
    assert text.startswith("files scanned: 9\nnotes: 5\n")
    assert "dangling links: 1" in text
    assert "gen 2" in text


def test_all_schemas_together_are_small(vault):
    from vaultgraph.serve.mcp_server import _tool

    tools = [_tool(operation).model_dump(by_alias=True, exclude_none=True) for operation in OPERATIONS.values()]
    assert len(json.dumps({"tools": tools}, separators=(",", ":"))) < 10_000


def test_a_fault_of_ours_is_one_line_and_other_calls_go_on(vault, caplog):
    answer = dispatch(vault.session, "ping", None)  # type: ignore[arg-type] - no transport sends this
    assert answer.is_error
    assert answer.text.startswith("internal: ping failed because of a fault in vaultgraph")
    assert "Traceback" in caplog.text
    assert vault.text("ping").startswith("pong")


def test_the_full_mode_gives_a_long_body_whole(local, write):
    vault = local(write({"Long.md": "line of text\n" * 5000}))
    query = "MATCH (n:Note) RETURN n.body"
    cut = vault.text("cypher_query", query=query)
    assert len(cut) < 16_384
    assert "characters)" in cut
    assert vault.text("cypher_query", query=query, _response={"mode": "full"}).count("line of text") == 5000


def test_an_empty_vault_answers_everything(local, write):
    vault = local(write({}))
    assert vault.text("graph_overview").startswith("vault · 0 notes, 0 nodes, 0 relationships")
    assert vault.text("cypher_query", query="MATCH (n) RETURN count(n) AS n").startswith("n\n0\n1 row · gen 1 · ")
    assert vault.text("rebuild_graph").startswith("files scanned: 0")
    assert "no match" in vault.text("grep", pattern="x")
    vault.text("list_source")


def test_the_overview_stays_under_4_kb_in_a_vault_of_many_labels_and_keys(local, write):
    notes = {
        f"Folder {index:03}/Note.md": f"---\ntype: Label {index:03} of a rather long name\n"
        f"key {index}: '[[Folder {index + 1:03}/Note]]'\n---\n"
        for index in range(200)
    }
    vault = local(write(notes))
    text = vault.text("graph_overview")
    assert len(json.dumps(text, ensure_ascii=False).encode()) < 4000
    assert 'more, ask types:["…"]' in text
    assert "more, ask connections:true" in text


def test_a_call_during_the_first_build_says_how_far_it_is(sample):
    from vaultgraph.files.root import VaultRoot
    from vaultgraph.serve.session import Session
    from vaultgraph.vault.vault import open_vault

    gate = Event()

    def slow_opener(progress):
        progress("read", 41, 100)
        gate.wait(30)
        return open_vault(sample, None, build=False)

    session = Session(VaultRoot.open(sample), slow_opener, name="slow", wait_s=0.0)
    session.start()
    try:
        while session.percent() == 0:
            pass
        waiting = dispatch(session, "cypher_query", {"query": "RETURN 1"})
        assert not waiting.is_error
        assert waiting.text.startswith("The graph is being built, 35 %.")
        assert "Gaff." in dispatch(session, "read_source", {"file_path": "Boats/Selkie.md"}).text
        assert "being built" in dispatch(session, "ping", {}).text
    finally:
        gate.set()
        assert session.wait_built(30)
    assert dispatch(session, "cypher_query", {"query": "RETURN 1"}).text.startswith("1\n1\n")
    assert session.close()


def test_every_graph_answer_says_its_generation_and_up_to_when_it_is_true(vault):
    for arguments in ({"types": ["Boat"]}, {"connections": True}, {"problems": True}):
        assert re.fullmatch("gen 1 · \\S+Z", vault.text("graph_overview", **arguments).split("\n")[-1])
    assert "gen 1" not in vault.text("graph_overview", cypher=["MATCH"])
    for tool in ("graph_overview", "ping", "rebuild_graph"):
        assert re.search("gen [12] · built ", vault.text(tool))


def test_a_vault_that_is_not_watched_is_true_up_to_its_last_look_and_does_not_call_itself_fresh(vault):
    looked = f"{vault.session.vault().current().looked_at:%Y-%m-%dT%H:%M:%SZ}"
    assert vault.call("cypher_query", query="RETURN 1", format="json").structured["as_of"] == looked
    assert "fresh" not in vault.text("ping")
    assert "not watched" in vault.text("graph_overview")


def test_structure_says_since_when_it_is_stale(vault, write):
    vault.session.wait_built(30)
    write({".kglite/vault.yaml": "kglite_vault: 1\nbogus_key: 1\n"})
    assert vault.error("rebuild_graph")
    stale = vault.call("cypher_query", query="RETURN 1", format="json").structured["stale"]
    assert stale.startswith("since 2")
    assert "bogus_key" in stale
    assert f"stale {stale}" in vault.text("cypher_query", query="RETURN 1")
    assert f"stale {stale}" in vault.text("graph_overview", types=["Boat"])
