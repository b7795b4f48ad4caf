"""MCP over HTTP: who is let in, how much may be sent, several clients on one vault, cancelling and stopping."""

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import anyio
import pytest
from mcp import Client

from vaultgraph.files.root import VaultRoot
from vaultgraph.serve import asking
from vaultgraph.serve.http_address import listen, parse_address, read_token
from vaultgraph.serve.http_guard import Access
from vaultgraph.serve.http_limits import Limits
from vaultgraph.serve.http_server import HttpServer
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault

TOKEN = "a-token-of-more-than-16-characters"
SLOW = "UNWIND range(1, 9000) AS a UNWIND range(1, 9000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
BOATS = {"query": "MATCH (b:Boat) RETURN b.title AS boat ORDER BY boat"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call(name, **arguments):
    params = {"name": name, "arguments": arguments, "_meta": ENVELOPE}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


class Door:
    """A server in a thread of this process, and plain requests to it."""

    def __init__(self, session, server):
        self.session, self.server = session, server
        self.url = server.url
        self.port = int(server.url.split(":")[2].split("/")[0])

    def send(self, method="POST", path="/mcp", body=None, **headers):
        """Status, headers and body of one request; a header given as None is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
        }
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if isinstance(body, dict) and body.get("method") == "tools/call":
            given |= {"Mcp-Method": "tools/call", "Mcp-Name": body["params"]["name"]}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, content, {name: value for name, value in given.items() if value is not None})
        with closing(connection), connection.getresponse() as reply:
            return reply.status, dict(reply.getheaders()), reply.read()

    def text(self, name, **arguments):
        status, _, content = self.send(body=call(name, **arguments))
        assert status == 200, content
        return json.loads(content)["result"]["content"][0]["text"]


@contextmanager
def serving(folder, access=None, limits=None):
    root = VaultRoot.open(folder)
    session = Session(root, lambda p: open_vault(folder, None, progress=p, build=False), name=root.name, wait_s=30)
    session.start()
    server = HttpServer(session, listen(parse_address("127.0.0.1:0")), access or Access(), limits)
    up = threading.Event()
    thread = threading.Thread(target=server.run, args=(up.set,))
    thread.start()
    try:
        assert up.wait(60)
        assert session.wait_built(60)
        yield Door(session, server)
    finally:
        server.stop()
        thread.join(60)
        session.close()
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    """One server for the tests that only look."""
    folder = tmp_path_factory.mktemp("http") / "vault"
    (folder / "Boats").mkdir(parents=True)
    for name in ("Fulmar", "Selkie"):
        (folder / f"Boats/{name}.md").write_text(f"---\ntype: Boat\n---\n# {name}\n")
    with serving(folder) as opened:
        yield opened


def test_a_call_is_one_small_reply(door):
    status, headers, content = door.send(body=call("cypher_query", query="RETURN 1"))
    assert (status, headers["content-type"], headers["x-content-type-options"]) == (200, "application/json", "nosniff")
    (part,) = json.loads(content)["result"]["content"]
    assert part["text"].split(" · 2")[0] == "1\n1\n1 row · gen 1"
    assert len(content) <= 300
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_speaks_both_eras(door, mode):
    async def talk():
        async with Client(door.url, mode=mode) as client:
            rows = await client.call_tool("cypher_query", BOATS)
            return client.protocol_version, client.instructions, len((await client.list_tools()).tools), rows

    version, instructions, tools, rows = anyio.run(talk)
    assert version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[mode]
    assert "graph_overview" in instructions
    assert tools >= 9
    assert rows.content[0].text.split("\n")[:3] == ["boat", "Fulmar", "Selkie"]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "192.168.1.9",
     "user@localhost", "localhost:port", "[::1", "0x7f.1", "localhost/x", "127.0.0.1, evil.example"],
)  # fmt: skip
def test_a_page_that_rebinds_its_name_to_this_machine_is_refused(door, host):
    status, _, content = door.send(body=call("ping"), Host=host)
    assert status in (400, 421)
    assert b"result" not in content
    assert door.send("GET", "/healthz", Host=host)[0] in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8765", "127.0.0.1:1", "[::1]:8765", "127.9.9.9"])
def test_names_of_this_machine_are_served_at_any_port(door, host):
    assert door.send(body=call("ping"), Host=host)[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", "file://", "chrome-extension://abc",
     "http://{host}/path", "http://{host}@evil.example", "", "https://evil.example:{port}"],
)  # fmt: skip
def test_pages_of_other_origins_are_refused(door, origin):
    origin = origin.format(host=f"127.0.0.1:{door.port}", port=door.port)
    status, headers, content = door.send(body=call("ping"), Origin=origin)
    assert (status, "result" in content.decode()) == (403, False)
    assert "access-control-allow-origin" not in {name.lower() for name in headers}


def test_a_page_of_the_server_itself_and_of_an_allowed_name_may_ask(sample, door):
    own = f"127.0.0.1:{door.port}"
    assert door.send(body=call("ping"), Host=own, Origin=f"http://{own}")[0] == 200
    assert door.send("OPTIONS", Origin="https://evil.example")[0] == 403
    with serving(sample, Access(names=frozenset({"vault.example"}))) as other:
        assert other.send(body=call("ping"), Host="vault.example", Origin="https://vault.example")[0] == 200
        assert other.send(body=call("ping"), Host="vault.example:443", Origin="https://other.example")[0] == 403


def test_addresses_are_served_where_every_interface_listens_but_names_are_not(sample):
    with serving(sample, Access(token=TOKEN, any_literal=True)) as door:
        bearer = f"Bearer {TOKEN}"
        assert door.send(body=call("ping"), Host="192.168.1.9:8765", Authorization=bearer)[0] == 200
        assert door.send(body=call("ping"), Host="evil.example", Authorization=bearer)[0] == 421


def test_headers_sent_twice_are_refused(door):
    with socket.create_connection(("127.0.0.1", door.port), timeout=60) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nOrigin: http://localhost\r\n\r\n")
        assert b" 400 " in raw.recv(4096).split(b"\r\n")[0]


def test_without_the_token_nothing_is_answered_but_health(sample):
    with serving(sample, Access(token=TOKEN)) as door:
        for given in (None, "", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xff"):
            status, headers, content = door.send(body=call("ping"), Authorization=given)
            assert (status, headers["www-authenticate"]) == (401, "Bearer")
            assert b"pong" not in content
        assert door.send("GET", "/healthz")[::2] == (200, b'{"status": "ok"}')
        for given in (f"Bearer {TOKEN}", f"bearer  {TOKEN}"):
            assert door.send(body=call("ping"), Authorization=given)[0] == 200


def test_guessing_a_token_is_slowed_and_does_not_lock_out_its_owner(sample):
    with serving(sample, Access(token=TOKEN)) as door:
        answers = [door.send(body=call("ping"), Authorization=f"Bearer {i:020}")[0] for i in range(40)]
        assert answers[0] == 401
        assert answers.count(429) >= 10
        assert door.send(body=call("ping"), Authorization=f"Bearer {TOKEN}")[0] == 200


def test_a_body_over_the_cap_is_refused_whether_it_says_so_or_not(sample):
    with serving(sample, limits=Limits(body_bytes=10_000)) as door:
        large = call("ping", message="x" * 20_000)
        assert door.send(body=large)[0] == 413
        with socket.create_connection(("127.0.0.1", door.port), timeout=60) as raw:
            raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            raw.sendall((b"1000\r\n" + b"x" * 4096 + b"\r\n") * 3)
            assert b" 413 " in raw.recv(4096).split(b"\r\n")[0]
        assert door.text("ping").startswith("pong")


def test_a_body_that_trickles_is_given_up(sample):
    with serving(sample, limits=Limits(body_s=0.2)) as door:
        with socket.create_connection(("127.0.0.1", door.port), timeout=60) as raw:
            raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            assert b" 408 " in raw.recv(4096).split(b"\r\n")[0]
        assert door.text("ping").startswith("pong")


HEAD = b"POST /mcp HTTP/1.1\r\nHost: "


@pytest.mark.parametrize(
    ("sent", "drop"),
    [
        (b"", b"x"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"x"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal", b"t"),
        (HEAD + b"evil.example\r\nContent-Length: 9000\r\n\r\n{", b" "),
        (HEAD + b"localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"1\r\n \r\n"),
    ],
    ids=["nothing", "a header", "a second head", "a refused body", "a body in chunks"],
)
def test_a_client_that_trickles_is_given_up(sample, sent, drop):
    with serving(sample, limits=Limits(head_s=0.2, body_s=0.2)) as door:
        with socket.create_connection(("127.0.0.1", door.port), timeout=60) as raw, suppress(ConnectionError):
            raw.sendall(sent)
            raw.settimeout(0.02)
            while True:  # until the server hangs up, whatever it has said before
                try:
                    if not raw.recv(4096):
                        break
                except TimeoutError:
                    raw.sendall(drop)
        assert door.text("ping").startswith("pong")


def test_a_client_that_takes_nothing_of_its_answers_is_given_up(sample):
    (sample / "long.md").write_text("x" * 1_000_000)
    params = {"uri": "vault://long.md", "_meta": ENVELOPE}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}).encode()
    head = b"localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    head += b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: vault://long.md\r\n"
    with serving(sample, limits=Limits(stall_s=0.2)) as door:
        with socket.socket() as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # the rest of the buffers fill up sooner
            raw.connect(("127.0.0.1", door.port))
            raw.sendall((HEAD + head + b"Content-Length: %d\r\n\r\n" % len(body) + body) * 8)
            hung_up = select.poll()
            hung_up.register(raw, select.POLLHUP | select.POLLERR)
            assert hung_up.poll(60_000)
        assert door.text("ping").startswith("pong")


def test_connections_that_ask_nothing_make_room_for_one_that_does(sample):
    with serving(sample, limits=Limits(connections=5)) as door, ExitStack() as idle:
        held = [idle.enter_context(socket.create_connection(("127.0.0.1", door.port), timeout=60)) for _ in range(12)]
        assert [door.text("ping").startswith("pong") for _ in range(3)] == [True] * 3
        with suppress(ConnectionError):
            assert held[0].recv(1) == b""  # the oldest had to go


def test_open_streams_of_notifications_keep_no_call_out(sample):
    with serving(sample, limits=Limits(running=1, streams=2)) as door, ExitStack() as streams:
        params = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
        listen = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=60)
            streams.enter_context(closing(connection))
            connection.request("POST", "/mcp", json.dumps(listen), headers)
            assert connection.getresponse().status == 200
        assert door.text("ping").startswith("pong")
        assert door.send(body=listen, **{name.replace("-", "_"): value for name, value in headers.items()})[0] == 503


def test_requests_over_the_rate_or_the_number_running_are_told_to_wait(sample):
    with serving(sample, limits=Limits(requests_per_s=0.001, requests_at_once=3)) as door:
        answers = [door.send("GET", "/healthz") for _ in range(5)]
        assert [status for status, _, _ in answers] == [200, 200, 200, 429, 429]
        assert answers[-1][1]["retry-after"] == "1"
    with serving(sample, limits=Limits(running=1)) as door, socket.create_connection(("127.0.0.1", door.port)) as raw:
        raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        status = 200
        while status == 200:  # until the half-sent request has arrived
            status = door.send(body=call("ping"))[0]
        assert status == 503


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 50_000, b'{"a":' * 50_000, b'{"jsonrpc":"2.0","id":1}',
     b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"n":1' + b"0" * 9000 + b"}}"],
)  # fmt: skip
@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18", "1999-01-01", None])
def test_what_is_no_request_is_refused_and_the_server_goes_on(door, body, version):
    status, _, _ = door.send(body=body, MCP_Protocol_Version=version)
    assert 400 <= status < 500
    assert door.text("ping").startswith("pong")


def test_other_paths_and_methods_are_refused(door):
    assert door.send("GET", "/")[0] == 404
    assert door.send("GET", "/mcp/../etc/passwd")[0] == 404
    assert door.send("POST", "/healthz", b"{}")[0] == 405
    assert door.send("PUT", "/mcp", b"{}")[0] == 405


def test_health_says_nothing_of_the_vault(door):
    assert door.send("GET", "/healthz")[2] == b'{"status": "ok"}'


def test_health_says_when_the_vault_cannot_be_asked(sample):
    (sample / ".kglite").mkdir()
    (sample / ".kglite/vault.yaml").write_text("kglite_vault: 1\nbogus: 2\n")
    with serving(sample) as door:
        assert door.send("GET", "/healthz")[::2] == (503, b'{"status": "failed"}')


def test_eight_clients_call_at_the_same_time_and_see_one_snapshot(door):
    async def talk():
        seen = []

        async def one(number):
            async with Client(door.url, mode="auto" if number % 2 else "legacy") as client:
                for _ in range(5):
                    result = await client.call_tool("cypher_query", {"query": f"RETURN {number}"})
                    seen.append((number, result.content[0].text.split(" · 2")[0]))

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(one, number)
        return seen

    seen = anyio.run(talk)
    assert len(seen) == 40
    assert {text for _, text in seen} == {f"{n}\n{n}\n1 row · gen 1" for n in range(8)}
    assert all(text.startswith(f"{number}\n") for number, text in seen)


def test_later_parts_cannot_be_guessed_by_other_clients(door):
    many = door.text("cypher_query", query="UNWIND range(1, 20000) AS i RETURN i")
    result_id = many.rsplit('result_id="', 1)[1].split('"')[0]
    assert len(result_id) == 17
    assert door.text("expand_response", result_id=result_id).split("\n")[0] == "i"
    error = door.text("expand_response", result_id="r1")
    assert "no result `r1`" in error
    assert result_id not in error


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_a_client_that_hangs_up_stops_its_query(door, version, monkeypatch):
    stopped, started = threading.Event(), threading.Event()
    run = asking.run_as_of

    def watched(*arguments, **named):
        started.set()
        try:
            return run(*arguments, **named)
        finally:
            stopped.set()

    monkeypatch.setattr(asking, "run_as_of", watched)
    headers = {"MCP-Protocol-Version": version}
    if version == "2025-11-25":
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        _, given, _ = door.send(body=hello, MCP_Protocol_Version=None)
        headers["Mcp-Session-Id"] = given["mcp-session-id"]
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        door.send(body=ready, Mcp_Session_Id=given["mcp-session-id"], MCP_Protocol_Version=version)
    else:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "cypher_query"}
    body = json.dumps(call("cypher_query", query=SLOW, timeout_ms=0)).encode()
    headers |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection = http.client.HTTPConnection("127.0.0.1", door.port, timeout=60)
    connection.request("POST", "/mcp", body, headers)
    assert started.wait(60)
    assert not stopped.is_set()
    connection.close()
    assert stopped.wait(60)
    assert door.text("ping").startswith("pong")


def test_stopping_ends_running_queries_and_open_streams(sample):
    with serving(sample) as door:
        replies = []
        asking = threading.Thread(
            target=lambda: replies.append(door.send(body=call("cypher_query", query=SLOW, timeout_ms=0)))
        )

        async def hold():
            async with Client(door.url, mode="legacy") as client:
                await client.call_tool("ping", {})
                asking.start()
                await client.call_tool("ping", {})
                door.server.stop()

        with suppress(OSError, RuntimeError, ExceptionGroup):  # a client whose server stops may end in any way
            anyio.run(hold)
        asking.join(60)
        assert not asking.is_alive()


@pytest.fixture
def process(sample):
    """The real process: `process(*flags, env=…)` gives it and the first line of stderr that names its address."""
    started = []

    def start(*flags, **env):
        command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(sample), "--vault-cache", "none", *flags]
        child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **env})
        started.append(child)
        lines = []
        for line in child.stderr:
            lines.append(line.decode())
            if b"listening on" in line:
                break
        return child, "".join(lines)

    yield start
    for child in started:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_process_serves_with_a_token_from_the_environment_and_ends_at_a_signal(process, number):
    child, said = process("--http", "127.0.0.1:0", VAULTGRAPH_HTTP_TOKEN=TOKEN)
    url = said.split("listening on ")[1].split()[0]
    assert "with a bearer token" in said
    assert TOKEN not in said
    port = int(url.split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        connection.request("POST", "/mcp", b"{}")
        assert connection.getresponse().status == 401
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (0, b"")
    assert b"Traceback" not in err


@pytest.mark.parametrize(
    ("flags", "env", "code", "words"),
    [
        (["--http", "0.0.0.0:0"], {}, 1, "needs a token"),
        (["--http", "[::]:0"], {}, 1, "needs a token"),
        (["--http", "127.0.0.1:0"], {"VAULTGRAPH_HTTP_TOKEN": "short"}, 1, "16 or more"),
        (["--http", "127.0.0.1:0"], {"VAULTGRAPH_HTTP_TOKEN": ""}, 1, "16 or more"),
        (["--http", "127.0.0.1:99999"], {}, 1, "is no address"),
        (["--http", "nowhere.invalid:0"], {"VAULTGRAPH_HTTP_TOKEN": TOKEN}, 1, "Choose another host"),
        (["--http", "127.0.0.1:0", "--http-token-file", "/nowhere/token"], {}, 1, "No such file"),
        (["--http-allow", "x.example"], {}, 2, "need --http"),
    ],
)
def test_a_server_that_cannot_be_safe_does_not_start(process, flags, env, code, words):
    child, said = process(*flags, **env)
    assert child.wait(60) == code
    assert words in said
    assert "Traceback" not in said


def test_a_port_that_is_taken_is_one_line(process):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        child, said = process("--http", f"127.0.0.1:{taken.getsockname()[1]}")
        assert child.wait(60) == 1
        assert "Choose another port" in said


@pytest.mark.parametrize(
    ("text", "address"),
    [("8000", "127.0.0.1:8000"), (":8000", "127.0.0.1:8000"), ("localhost", "localhost:8765"),
     ("0.0.0.0:1", "0.0.0.0:1"), ("[::1]:80", "[::1]:80"), ("[::1]", "[::1]:8765"), ("a.example:80", "a.example:80")],
)  # fmt: skip
def test_an_address_may_leave_out_its_host_or_its_port(text, address):
    assert str(parse_address(text)) == address


def test_a_token_file_is_read_by_its_first_line(tmp_path):
    (tmp_path / "token").write_text(f"  {TOKEN}\nsecond\n")
    assert read_token(str(tmp_path / "token"), {"VAULTGRAPH_HTTP_TOKEN": "x"}) == TOKEN
    assert read_token(None, {}) is None


def test_a_manifest_can_ask_for_csv_files(process, sample):
    (sample / "workspace_mcp.yaml").write_text("extensions:\n  csv_http_server: true\n")
    child, said = process("--http", "127.0.0.1:0")
    url = said.split("listening on ")[1].split()[0]
    address = said.split("long CSV answers at ")[1].split()[0]
    folder = {path for path in Path(tempfile.gettempdir()).glob("vaultgraph-*") if path.is_dir()}

    async def talk():
        async with Client(url, mode="auto") as client:
            while True:
                query = {"query": "UNWIND range(1, 9000) AS i RETURN i FORMAT CSV"}
                result = await client.call_tool("cypher_query", query)
                if "being built" not in result.content[0].text:
                    return result.content[0].text

    text = anyio.run(talk)
    assert text.startswith("FORMAT CSV: 9,000 rows")
    fetched = text.split(" at ")[1].split()[0]
    assert fetched.startswith(address)
    port = int(address.split(":")[2].strip("/"))
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", "/" + fetched.rsplit("/", 1)[1])
        assert connection.getresponse().read().count(b"\r\n") == 9001
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    left = {path for path in Path(tempfile.gettempdir()).glob("vaultgraph-*") if path.is_dir()}
    assert not [path for path in folder & left if (path / fetched.rsplit("/", 1)[1]).exists()]


def test_a_manifest_that_lies_in_the_vault_sets_no_token_and_one_that_is_named_does(process, sample):
    (sample / "workspace_mcp.yaml").write_text("env_file: token.env\n")
    (sample / "token.env").write_text(f"VAULTGRAPH_HTTP_TOKEN={TOKEN}\n")
    assert "without a token" in process("--http", "127.0.0.1:0")[1]
    named = str(sample / "workspace_mcp.yaml")
    assert "with a bearer token" in process("--http", "127.0.0.1:0", "--mcp-config", named)[1]


def test_every_test_that_the_threat_model_names_exists():
    root = Path(__file__).parents[2]
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", (root / "docs/security.md").read_text()))
    there = {
        name for file in root.glob("tests/**/test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    assert len(named) > 30
    assert named <= there


def test_every_module_that_the_threat_model_names_exists():
    root = Path(__file__).parents[2]
    claims = [line.split("|") for line in (root / "docs/security.md").read_text().split("\n") if line.startswith("| ")]
    modules = [name for cells in claims[1:] for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)?)`", cells[2])]
    assert len(modules) > 30
    assert [name for name in modules if not (root / f"vaultgraph/{name}.py").exists()] == []


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_that_asks_is_told_how_the_first_build_goes_on_over_http(sample, mode):
    gate, seen = threading.Event(), []

    def slow_opener(progress):
        progress("read", 40, 100)
        gate.wait(60)
        return open_vault(sample, None, build=False)

    async def on_progress(progress, total, message):
        seen.append((progress, total, message))
        gate.set()

    async def talk():
        async with Client(server.url, mode=mode) as client:
            result = await client.call_tool("cypher_query", {"query": "RETURN 1"}, progress_callback=on_progress)
            return result.content[0].text

    session = Session(VaultRoot.open(sample), slow_opener, name="slow", wait_s=60)
    session.start()
    server = HttpServer(session, listen(parse_address("127.0.0.1:0")), Access())
    up = threading.Event()
    thread = threading.Thread(target=server.run, args=(up.set,))
    thread.start()
    try:
        assert up.wait(60)
        assert anyio.run(talk).startswith("1\n1\n1 row · gen 1 · 2")
    finally:
        gate.set()
        server.stop()
        thread.join(60)
        session.close()
    assert seen
    assert all(0 <= progress <= total == 100 for progress, total, _ in seen)
