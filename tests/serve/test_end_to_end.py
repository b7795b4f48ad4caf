"""The real server process, driven by the official client over stdio."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

TOOLS = [
    "graph_overview",
    "cypher_query",
    "links",
    "read_source",
    "grep",
    "list_source",
    "fetch_images",
    "rebuild_graph",
    "ping",
    "skill",
    "expand_response",
]
BOATS = "MATCH (b:Boat) RETURN b.title AS boat ORDER BY boat"
TWO_BOATS = ["boat", "Fulmar", "Selkie"]


def test_the_handshake_names_the_vault_and_says_how_to_start(harbour):
    client = harbour[0].client
    assert client.server_info.name == "vaultgraph (Harbour)"
    assert client.server_info.version
    assert "graph_overview" in client.instructions
    assert "every edit that was saved before the call" in client.instructions
    assert client.server_capabilities.tools is not None


def test_the_tools_come_in_fixed_order_with_titles_and_annotations(harbour):
    tools = harbour[0].tools()
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.title for tool in tools)
    assert {tool.name for tool in tools if not tool.annotations.read_only_hint} == {"rebuild_graph"}
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)


def test_every_tool_answers(harbour):
    server, folder = harbour
    overview = server.until("Labels", "graph_overview")
    assert "Boat 2" in overview
    assert "Problems: 1 error" in overview
    assert server.text("cypher_query", query=BOATS).split("\n")[:3] == TWO_BOATS
    assert "Gaff." in server.text("read_source", file_path="Boats/Selkie.md")
    assert "Boats/Selkie.md:12:Gaff." in server.text("grep", pattern="Gaff", glob="Boats/*")
    assert "Selkie.md" in server.text("list_source", path="Boats")
    images = server.call("fetch_images", items=["media/selkie.png"])
    assert [part.type for part in images.content] == ["image", "text"]
    assert base64.b64decode(images.content[0].data) == (folder / "media/selkie.png").read_bytes()
    assert images.content[0].mime_type == "image/png"
    assert "notes: 5" in server.text("rebuild_graph")
    assert server.text("ping", message="ahoy").startswith("ahoy\nvaultgraph ")
    many = server.text("cypher_query", query="UNWIND range(1, 20000) AS i RETURN i")
    assert 'expand_response(result_id="r1", offset=' in many
    offset = int(many.rsplit("offset=", 1)[1].split(")")[0])
    assert server.text("expand_response", result_id="r1", offset=offset).split("\n")[1] == str(offset + 1)


def test_structure_comes_where_it_is_asked_for(harbour):
    server, _ = harbour
    result = server.call("cypher_query", query=BOATS, format="json")
    assert result.structured_content["rows"] == [["Fulmar"], ["Selkie"]]
    assert len(result.content) == 1


def test_paths_that_leave_the_vault_are_refused_by_name_of_the_rule(harbour):
    server, _ = harbour
    assert "path_escape: ../secret.md: `..` is refused" in server.error("read_source", file_path="../secret.md")
    assert "absolute paths are refused" in server.error("read_source", file_path="/etc/passwd")
    assert "path_escape" in server.error("read_source", file_path="leak.md")
    assert "`..` is refused" in server.error("fetch_images", items=["../x.png"])
    assert "start with a dot" in server.error("read_source", file_path=".obsidian/app.json")


def test_a_broken_note_is_kept_and_reported(harbour):
    server, _ = harbour
    linking = "MATCH (n:Note)-[:LINKS_TO]->({path: 'Home.md'}) RETURN n.path"
    assert "Log/Broken.md" in server.text("cypher_query", query=linking)
    problems = server.text("graph_overview", problems=True)
    assert "Log/Broken.md:" in problems
    assert "Log/Latin.md" in problems
    assert "not UTF-8" in server.text("read_source", file_path="Log/Latin.md")


def test_an_edit_between_two_calls_is_seen(harbour):
    server, folder = harbour
    assert server.text("cypher_query", query=BOATS).split("\n")[:3] == TWO_BOATS
    (folder / "Boats" / "Skua.md").write_text("---\ntype: Boat\n---\n# Skua\n")
    assert server.until("Skua", "cypher_query", query=BOATS).split("\n")[:4] == [*TWO_BOATS, "Skua"]
    (folder / "Boats" / "Skua.md").unlink()
    assert server.until("2 rows", "cypher_query", query=BOATS).split("\n")[:3] == TWO_BOATS


def test_a_restart_answers_from_the_cache_in_the_newer_protocol_too(connect, sample):
    with connect(sample) as server:
        before = server.until("2 rows", "cypher_query", query=BOATS).split(" · 2")[0]
    assert (sample / ".kglite" / "graph.kgl").exists()
    (sample / "Log" / "New.md").write_text("[[Home]]")
    with connect(sample, mode="2026-07-28") as server:
        assert [tool.name for tool in server.tools()] == TOOLS
        assert server.until("2 rows", "cypher_query", query=BOATS).split(" · 2")[0] == before
        assert server.text("cypher_query", query="RETURN 1 AS one").startswith("one\n1\n1 row · gen 1 · ")
        assert "New.md" in server.text("cypher_query", query="MATCH (n:Note {stem: 'New'}) RETURN n.path")


def test_a_failed_refresh_keeps_answering_and_says_so_until_the_vault_is_gone(connect, sample):
    (sample / ".kglite").mkdir()
    profile = sample / ".kglite" / "vault.yaml"
    profile.write_text("kglite_vault: 1\n")
    before = sorted(path.name for path in sample.rglob("*"))
    with connect(sample, "--vault-cache", "none") as server:
        server.until("2 rows", "cypher_query", query=BOATS)
        profile.write_text("kglite_vault: 1\nbogus: 2\n")
        stale = server.until("stale since ", "cypher_query", query=BOATS)
        assert "Selkie" in stale
        assert "bogus" in stale
        assert "stale since " in server.text("graph_overview")
        assert "stale since " in server.text("ping")
        assert "bogus" in server.error("rebuild_graph")
        profile.write_text("kglite_vault: 1\n")
        server.until("fresh", "ping")
        assert "stale" not in server.text("cypher_query", query=BOATS)
        assert sorted(path.name for path in sample.rglob("*")) == before
        shutil.rmtree(sample)
        assert "Selkie" in server.until("stale since ", "cypher_query", query=BOATS)
        for name, arguments in [
            ("read_source", {"file_path": "Home.md"}),
            ("grep", {"pattern": "x"}),
            ("list_source", {}),
            ("fetch_images", {"items": ["media/selkie.png"]}),
        ]:
            assert "is gone" in server.error(name, **arguments)
    assert not sample.exists()


def test_a_server_that_starts_on_a_refused_configuration_serves_files_and_recovers(connect, sample):
    (sample / ".kglite").mkdir()
    profile = sample / ".kglite" / "vault.yaml"
    profile.write_text("kglite_vault: 1\nbogus: 2\n")
    with connect(sample) as server:
        assert "Gaff." in server.text("read_source", file_path="Boats/Selkie.md")
        assert "bogus" in server.error("cypher_query", query=BOATS)
        profile.unlink()
        for _ in range(20_000):
            result = server.call("cypher_query", query=BOATS)
            if not result.is_error:
                break
        assert result.content[0].text.split("\n")[:3] == TWO_BOATS


def test_the_wire_carries_small_lines_of_protocol_and_nothing_else(wire, sample):
    server = wire(sample)
    assert server.handshake()["serverInfo"]["name"] == "vaultgraph (vault)"
    reply = server.tool("cypher_query", query="RETURN 1")
    while b"being built" in reply:
        reply = server.tool("cypher_query", query="RETURN 1")
    (part,) = json.loads(reply)["result"]["content"]
    assert part["text"].startswith("1\n1\n1 row · gen 1 · 20")
    assert len(reply) <= 300
    assert len(server.request("tools/list")) < 10_000
    assert len(server.tool("graph_overview")) < 4096
    for line, code, known in (
        (b"{not json", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":[]}', -32600, 77),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"message":"\\ud800"}}', -32700, "a"),
        (b'{"jsonrpc":"2.0","id":78,"method":"ping","params":{"n":1' + b"0" * 5000 + b"}}", -32700, 78),
    ):
        server.send(line)
        refused = json.loads(server.read())
        assert (refused["error"]["code"], refused["id"]) == (code, known)
    server.send(b"")
    assert b"-32601" in server.request("no/such/method")

    # A cancelled query stops; meanwhile it delays neither a query nor a ping.
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
    call = {"name": "cypher_query", "arguments": {"query": slow}}
    server.send({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": call})
    assert b"pong" in server.tool("ping")
    assert b"1 row" in server.tool("cypher_query", query="RETURN 1")
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    assert b"pong" in server.tool("ping")

    out, err = server.process.communicate(timeout=30)
    assert server.process.returncode == 0
    assert out == b""
    assert b"Traceback" not in err
    assert b'serving "vault"' in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_without_a_traceback(wire, sample, number):
    server = wire(sample)
    assert b"serving" in server.process.stderr.readline()
    os.kill(server.process.pid, number)
    _, err = server.process.communicate(timeout=30)
    assert server.process.returncode == 128 + number
    assert b"Traceback" not in err


def test_a_client_that_closes_its_end_gets_no_traceback(wire, sample):
    server = wire(sample)
    server.handshake()
    server.process.stdout.close()
    server.send({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})
    server.process.stdin.close()
    assert server.process.wait(timeout=30) == 0
    assert b"Traceback" not in server.process.stderr.read()


def test_the_server_ends_when_its_client_is_killed_in_the_middle_of_a_query(sample):
    slow = "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
    call = {"name": "cypher_query", "arguments": {"query": slow, "timeout_ms": 0}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "ping", "arguments": {}}},
    ]
    # The client is a process of its own; the pipe that its server inherits for stderr closes when the server has ended.
    client = (
        "import subprocess, sys\n"
        "server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "server.stdin.write(sys.argv[1].encode()); server.stdin.flush()\n"
        "while b'pong' not in server.stdout.readline(): pass\n"
        "print('asked', flush=True); sys.stdin.read()\n"
    )
    messages = "".join(f"{json.dumps(line)}\n" for line in lines)
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(sample), "--vault-cache", "none"]
    process = subprocess.Popen(
        [sys.executable, "-c", client, messages, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"asked\n"
        process.kill()
        assert b"Traceback" not in process.stderr.read()  # ends only when nobody holds it any more
