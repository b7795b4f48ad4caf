"""Notes, caches and time, where the reference server loses or hides something; see docs/compatibility.md."""

import json
import os
import sys
import threading
from threading import Event

import pytest

from vaultgraph.serve.dispatch import dispatch

SLOW = "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*) AS n"
TEXTS = "MATCH (n:Note) RETURN n.stem AS note, n.body AS body ORDER BY note"
FAULTY = {
    "Home.md": "# Home\n\nSee [[Gone]].\n\nAnd ![[gone.png]].\n",
    "Broken.md": "---\ntags: [a\n---\nText.\n",
    "Latin.md": b"caf\xe9 au lait",
    "Bom.md": b"\xef\xbb\xbf---\ntitle: Named\n---\nText.\n",
}


def test_an_unresolved_link_names_its_note_and_line(local, write):
    text = local(write(FAULTY)).text("graph_overview", problems=True)
    assert "Home.md:3 unresolved-link" in text
    assert "'Gone'" in text
    assert "Home.md:5 missing-attachment" in text


@pytest.mark.parametrize(
    "query", ["CREATE (n:Note)", "MATCH (n) SET n.x = 1", "MATCH (n) DETACH DELETE n", "MERGE (n)"]
)
def test_nothing_is_written_that_would_be_lost_later(local, write, query):
    served = local(write({"Home.md": "# Home\n"}))
    before = served.text("cypher_query", query="MATCH (n) RETURN n")
    message = served.error("cypher_query", query=query)
    assert message.startswith("read_only: ")
    assert "edit the files, and the graph follows" in message
    assert served.text("cypher_query", query="MATCH (n) RETURN n") == before
    for tool in ("save_graph", "save_graph_as", "load_graph", "create_graph"):
        assert served.error(tool, path="/x.kgl").startswith("unknown_operation: ")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells of a write a moment after it")
def test_the_first_query_after_a_save_sees_it(connect, write):
    def ask(tool, **arguments):
        text = server.text(tool, **arguments)
        while "stale since" in text:  # told so: on a machine that is very busy reading may outlast a query's patience
            text = server.text(tool, **arguments)
        return text

    folder = write({"Home.md": "# Home\n"})
    with connect(folder, "--vault-cache", "none") as server:
        server.until("Home", "cypher_query", query=TEXTS)
        for number in range(5):
            (folder / f"New {number}.md").write_text(f"text {number}\n")
            assert f"text {number}" in ask("cypher_query", query=TEXTS)
            (folder / "Home.md").write_text(f"# Home\n\nround {number}\n")
            assert f"round {number}" in ask("cypher_query", query=TEXTS)
            assert f"round {number}" in ask("grep", pattern="round")


def test_faults_of_notes_are_counted_at_the_start_with_and_without_a_cache(wire, write):
    folder = write(FAULTY)
    for _ in range(2):
        server = wire(folder)
        server.handshake()
        while b"being built" in server.tool("cypher_query", query="RETURN 1"):
            pass
        assert b"Problems: 1 error, 1 warning" in server.tool("graph_overview")
        _, told = server.process.communicate(timeout=30)
        assert b"problems: 1 error, 1 warning" in told
    assert b"opened from the cache" in told


@pytest.mark.parametrize("keeps_time", [False, True])
def test_a_change_of_the_same_size_is_found_after_a_restart(local, write, tmp_path, keeps_time):
    folder, cache = write({"Note.md": "aaaa"}), str(tmp_path / "graph.kgl")
    note = folder / "Note.md"
    first = local(folder, cache=cache)
    assert "aaaa" in first.text("cypher_query", query=TEXTS)
    first.session.close()
    status = note.stat()
    note.write_text("bbbb")
    if keeps_time:
        os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = local(folder, cache=cache)
    assert "bbbb" in second.text("cypher_query", query=TEXTS)


def test_configuration_that_changed_while_no_server_ran_counts_on_a_start_from_the_cache(local, write, tmp_path):
    folder, cache = write({"Boats/Selkie.md": "gaff"}), str(tmp_path / "graph.kgl")
    first = local(folder, cache=cache)
    assert "embed targets: none" in first.text("rebuild_graph")
    first.session.close()
    write({".kglite/vault.yaml": "kglite_vault: 1\nembed: {Boats: body}\nindexes: {Boats: [stem]}\n"})
    second = local(folder, cache=cache)
    plan = second.text("cypher_query", query="EXPLAIN MATCH (b:Boats) WHERE b.stem = 'Selkie' RETURN b")
    assert "SeekIndex" in plan
    report = second.session.vault().current().report
    assert dict(report.embed) == {"Boats": "body"}
    assert "embed targets: Boats.body" in second.text("rebuild_graph")


def test_a_note_that_is_not_utf_8_is_there_and_said(local, write):
    served = local(write(FAULTY))
    assert "\nLatin\t" in served.text("cypher_query", query=TEXTS)
    assert "Latin.md not-utf8" in served.text("graph_overview", problems=True)
    assert "Latin.md not-utf8" in served.text("rebuild_graph")
    found = served.text("grep", pattern="au lait")
    assert "Latin.md:1:" in found
    assert "not UTF-8" in found
    assert "not UTF-8" in served.text("read_source", file_path="Latin")


def test_a_byte_order_mark_hides_no_frontmatter(local, write):
    served = local(write(FAULTY))
    text = served.text("cypher_query", query="MATCH (n {stem: 'Bom'}) RETURN n.title AS title, n.body AS body")
    assert text.split("\n")[1] == 'Named\t"Text.\\n"'


def test_a_text_in_one_note_does_not_turn_the_numbers_of_others_into_texts(local, write):
    ages = {"Ann": "41", "Bob": "unknown", "Cyd": "7", "Dee": "40.5"}
    served = local(write({f"{name}.md": f"---\nage: {age}\n---\n" for name, age in ages.items()}))
    older = served.text("cypher_query", query="MATCH (n:Note) WHERE n.age > 40 RETURN n.stem ORDER BY n.age DESC")
    assert older.split("\n")[1:3] == ["Ann", "Dee"]
    rows = served.call("cypher_query", query="MATCH (n:Note) RETURN n.age ORDER BY n.stem", format="json")
    assert rows.structured["rows"] == [[41], ["unknown"], [7], [40.5]]
    assert "age STRING | INTEGER | FLOAT" in served.text("graph_overview", types=["Note"])


def test_slow_queries_hold_up_no_other_call(wire, write):
    server = wire(write({"Home.md": "# Home\n"}), "--vault-cache", "none")
    server.handshake()
    while b"being built" in server.tool("cypher_query", query="RETURN 1"):
        pass
    for number in (501, 502, 503):
        call = {"name": "cypher_query", "arguments": {"query": SLOW, "timeout_ms": 0}}
        server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
    for _ in range(3):  # each line that comes back is the answer to what was asked last
        assert b"1 row" in server.tool("cypher_query", query="RETURN 1")
        assert json.loads(server.request("ping"))["result"] is not None
        assert b"Home" in server.tool("read_source", file_path="Home")


def test_a_cancelled_query_ends_where_it_is(local, write):
    served = local(write({"Home.md": "# Home\n"}))
    cancelled, answers = Event(), []
    arguments = {"query": SLOW, "timeout_ms": 0}
    asking = threading.Thread(
        target=lambda: answers.append(dispatch(served.session, "cypher_query", arguments, cancelled)), daemon=True
    )
    asking.start()
    asking.join(0.05)
    assert asking.is_alive()
    cancelled.set()
    asking.join(30)
    assert not asking.is_alive()
    assert "cancelled" in answers[0].text
