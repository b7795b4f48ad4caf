"""Answers where the reference server's are long, misleading or unfinished; docs/compatibility.md names the tests."""

import json
import re

import pytest

from vaultgraph.serve.operations import OPERATIONS

SKILL = "---\nname: tides\ndescription: Before any question on tides.\nreferences_tools: [{}]\n---\nHigh and low.\n"
CYPHER_SKILL = {".kglite/skills/tides.md": SKILL.format("cypher_query, graph_overview, grep, read_source, list_source")}
NOTES = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n\nSee [[Boats/Selkie]] and [[Gone]]. #sea\n\nEnd.\n",
    "Boats/Selkie.md": "---\ntype: Boat\nlength: 7.5\n---\n# Selkie\n\n![[selkie.png]]\n",
    "Boats/Fulmar.md": "---\ntype: Boat\nlength: 9\n---\n# Fulmar\n",
    ".kglite/vault.yaml": "kglite_vault: 1\nindexes: {Boat: [length]}\n",
    ".git/config": "[remote] token = secret",
    ".env": "TOKEN=secret",
    ".obsidian/app.json": '{"secret": 1}',
}
FAULTS = [
    ("cypher_query", {"query": "RETRUN 1"}, "Did you mean RETURN?"),
    ("cypher_query", {}, "needs the argument `query`"),
    ("graph_overview", {"types": ["Bota"]}, "Did you mean Boat?"),
    ("read_source", {"file_path": "Home.txt"}, "Did you mean Home.md?"),
    ("read_source", {"file_path": "../x.md"}, "`..` is refused"),
    ("read_source", {"file_path": "Boats"}, "is a folder"),
    ("links", {"note": "Hoem"}, "Did you mean Home.md?"),
    ("links", {"note": "Home", "depth": 5}, "`depth` must be at most 4, not 5"),
    ("grep", {"pattern": "["}, "unclosed character class"),
    ("list_source", {"path": "nope"}, "nope: not in the vault"),
    ("list_source", {"path": "../nope"}, "`..` is refused"),
    ("fetch_images", {"items": ["gone.png"]}, "gone.png: not in the vault"),
    ("expand_response", {"result_id": "r9"}, "There is no result `r9`"),
    ("skill", {"name": "nope"}, "nope"),
    ("explore", {"query": "x"}, "There is no tool `explore`"),
    ("ping", {"massage": "x"}, "Did you mean `message`?"),
]


@pytest.fixture
def vault(local, write):
    return local(write({**NOTES, **CYPHER_SKILL}))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cypher_query", {"query": "RETURN 1"}),
        ("graph_overview", {"types": ["Boat"]}),
        ("read_source", {"file_path": "Home.md"}),
        ("links", {"note": "Home"}),
        ("grep", {"pattern": "See"}),
        ("list_source", {}),
    ],
)
def test_no_answer_urges_a_caller_to_load_a_skill(vault, tool, arguments):
    first = vault.text(tool, **arguments)
    assert "skill" not in first.casefold()
    assert vault.text(tool, **arguments) == first
    assert len(vault.call(tool, **arguments).parts) == 1


@pytest.mark.parametrize(("tool", "arguments", "words"), FAULTS)
def test_every_fault_is_flagged_and_says_what_is_wrong(harbour, tool, arguments, words):
    result = harbour[0].call(tool, **arguments)
    assert result.is_error
    assert words in result.content[0].text
    assert "source roots" not in result.content[0].text
    assert re.match(r"[a-z_]+: ", result.content[0].text)


def test_a_reply_holds_its_rows_once_and_nothing_about_itself(wire, write):
    server = wire(write(NOTES), "--vault-cache", "none")
    server.handshake()
    one = server.tool("cypher_query", query="RETURN 1")
    while b"being built" in one:
        one = server.tool("cypher_query", query="RETURN 1")
    assert len(one) < 300
    reply = server.tool("cypher_query", query="MATCH (b:Boat) RETURN b.title AS boat, b.length AS metres ORDER BY boat")
    assert len(reply) < 300
    assert reply.count(b"Fulmar") == 1
    assert set(json.loads(reply)["result"]) == {"content", "isError"}
    rows = server.tool("cypher_query", query="UNWIND range(1, 1000) AS i RETURN i, i * i AS square")
    assert len(rows) < 16 * 1024
    assert b"1000\\t1000000" in rows


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("MATCH (n) RETRUN n", "Did you mean RETURN?"),
        ("MATHC (n) RETURN n", "Did you mean MATCH?"),
        ("MATCH (n) WERE n.x = 1 RETURN n", "Did you mean WHERE?"),
        ("MATCH (n) RETURN n ODER BY n.title", "Did you mean ORDER?"),
        ("RETURN toUper('a')", "Did you mean toUpper?"),
        ("CALL vault.problem() YIELD path RETURN path", "Did you mean vault.problems?"),
        ("CALL pagerank() YIELD node RETURN node", "Did you mean algo.pagerank?"),
        ("MATCH (n) RETURN m.title", "m"),
        ("RETURN 1; RETURN 2", "One statement at a time"),
        ("RETURN $tag", "$tag"),
        ("CALL louvain() YIELD node RETURN node", "Did you mean algo.communities?"),
        ("CALL outline('A.md') YIELD text RETURN text", "Did you mean vault.outline?"),
    ],
)
def test_a_wrong_query_is_never_half_run_and_its_fault_has_a_place_and_a_way_on(vault, query, words):
    message = vault.error("cypher_query", query=query)
    assert words in message
    assert "line 1, column" in message


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:Boat) RETURN text_bm25(n, 'body', 'gaff')",
        "MATCH (n:Boat) RETURN text_score(n, 'body', 'gaff')",
        "CALL db.index.fulltext.queryNodes('Boat.body', 'gaff') YIELD node RETURN node",
        "LOAD CSV FROM 'x.csv' AS row RETURN row",
        "CREATE (n:Boat)",
        "MATCH (n) SET n.x = 1",
    ],
)
def test_advice_names_only_what_the_caller_has(vault, query):
    message = vault.error("cypher_query", query=query)
    for word in ("set_embedder", "embed_texts", "build_text_index", "Python", "Bolt", "--writable", "g."):
        assert word not in message
    called = re.findall(r"CALL ([\w.]+\(\))", message)
    for one in called:
        assert vault.text("cypher_query", query=f"CALL {one}")
    assert called or "edit the files" in message or "There are: " in message


def test_a_plan_shows_the_index_and_a_profile_what_was_spent(vault):
    query = "MATCH (b:Boat) WHERE b.length = 9 RETURN b.title"
    plan = vault.text("cypher_query", query=f"EXPLAIN {query}")
    assert 'SeekIndex\t"(b:Boat) length = 9"' in plan
    assert "SeekIndex" not in vault.text("cypher_query", query=f"EXPLAIN {query.replace('length', 'size_bytes')}")
    rows = [line.split("\t") for line in vault.text("cypher_query", query=f"PROFILE {query}").split("\n")]
    assert rows[0][-2:] == ["rows", "ms"]
    assert rows[1][-2] == "1"
    assert all(float(row[-1]) >= 0 for row in rows[1:3])


def test_the_overview_promises_nothing_that_is_not_there(vault):
    text = vault.text("graph_overview")
    arguments = set(re.findall(r"\b([a-z]+):(?:\[|true)", text))
    assert arguments >= {"types", "connections", "cypher"}
    assert arguments <= set(OPERATIONS["graph_overview"].parameters["properties"])
    for topic in re.findall(r'types:\["([^"…]+)"\]', text):
        assert vault.text("graph_overview", types=[topic])
    (example,) = re.findall(r"Example query: (.*)", text)
    assert "Boats/Selkie.md" in vault.text("cypher_query", query=example)
    assert "fluent" not in text
    assert "bug_report" not in text
    assert len(text.encode()) < 1000


def test_a_long_note_or_cell_comes_in_few_full_parts(local, write):
    lines = [f"Line {number} of a long note about the tide and the harbour wall." for number in range(700)]
    served = local(write({"Long.md": "\n".join(lines), "Nine.md": "x" * 9_000}))
    text, calls, seen = served.text("read_source", file_path="Long.md"), 1, set[str]()
    while True:
        seen |= set(re.findall(r"Line \d+ of", text))
        following = re.search(r"read_source\(file_path=\"Long.md\", start_line=(\d+)\)", text)
        if following is None:
            break
        assert len(text.encode()) > 12_000
        text, calls = served.text("read_source", file_path="Long.md", start_line=int(following[1])), calls + 1
    assert calls <= 4
    assert len(seen) == 700
    body = served.text("cypher_query", query="MATCH (n {stem: 'Nine'}) RETURN n.body AS body")
    assert "x" * 9_000 in body
    reference = served.text("graph_overview", cypher=True)
    assert "expand_response" not in reference
    assert "OPTIONAL MATCH" in reference


@pytest.mark.parametrize("path", [".git/config", ".env", ".obsidian/app.json", "Boats/../.env", ".GIT/config"])
def test_files_that_no_note_is_are_out_of_reach_for_every_tool(vault, path):
    for tool, arguments in (
        ("read_source", {"file_path": path}),
        ("fetch_images", {"items": [path]}),
        ("list_source", {"path": path.rpartition("/")[0] or path}),
    ):
        message = vault.error(tool, **arguments)
        assert "secret" not in message
        assert "path_escape" in message or "refused" in message or "start with a dot" in message
    assert "no match" in vault.text("grep", pattern="secret")
    assert "kglite_vault: 1" in vault.text("read_source", file_path=".kglite/vault.yaml")


def test_lines_come_with_their_context_and_every_limit_is_kept(vault):
    text = vault.text("grep", pattern="See", context=1)
    assert text.split("\n")[:3] == [
        "Home.md-5-",
        "Home.md:6:See [[Boats/Selkie]] and [[Gone]]. #sea",
        "Home.md-7-",
    ]
    assert "`max_results` must be at least 1, not 0" in vault.error("grep", pattern="See", max_results=0)
    two = vault.text("grep", pattern="#", max_results=2)
    assert len([line for line in two.split("\n") if ".md:" in line]) == 2
    assert "2 more not shown: raise max_results, or narrow with glob" in two
    assert vault.text("grep", pattern="#", max_results=None) == vault.text("grep", pattern="#")
    assert "more not shown" not in vault.text("grep", pattern="#")


def test_a_picture_is_what_its_bytes_say_and_refusals_take_no_place(local, write, make_image):
    pictures = {f"media/{number}.png": make_image((9, number + 1)) for number in range(4)}
    fakes = {"media/fake.png": b"this is text", "media/drawing.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"}
    served = local(write({**NOTES, **pictures, **fakes, "media/photo.png": make_image((40, 20), "JPEG")}))
    items = ["media/fake.png", "media/drawing.svg", "gone.png", *pictures, "0.png"]
    answer = served.call("fetch_images", items=items)
    assert not answer.is_error
    assert answer.text.split("\n")[0] == "delivered 4, refused 3"
    assert "- media/0.png (image/png, " in answer.text
    assert " bytes, 9 × 1)" in answer.text
    assert "refused media/fake.png: " in answer.text
    assert "image/svg+xml" in answer.text
    photo = served.call("fetch_images", items=["photo.png"], max_edge=10)
    assert photo.parts[0].mime == "image/jpeg"
    assert "10 × 5" in photo.text
