"""The protocol around the operations: progress of the first build, and the end of input."""

import json
import subprocess
import sys
from threading import Event

import anyio
from mcp import Client

from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.mcp_server import MOST_CALLS, make_server
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault


def test_a_client_that_asks_is_told_how_the_first_build_goes_on(sample):
    gate = Event()
    seen: list[tuple[float, float | None]] = []

    def slow_opener(progress):
        progress("read", 40, 100)
        gate.wait(30)
        return open_vault(sample, None, build=False)

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))
        gate.set()

    async def talk() -> str:
        session = Session(VaultRoot.open(sample), slow_opener, name="slow", wait_s=30)
        session.start()
        async with Client(make_server(session), mode="legacy") as client:
            result = await client.call_tool("cypher_query", {"query": "RETURN 1"}, progress_callback=on_progress)
        session.close()
        return result.content[0].text

    assert anyio.run(talk).startswith("1\n1\n1 row · gen 1 · 2")
    assert seen
    assert all(0 <= progress <= total == 100 for progress, total in seen)


def test_a_call_over_those_that_run_or_wait_is_told_so_at_once_and_a_ping_is_answered(sample):
    gate = Event()  # shut, it keeps every call that needs the graph

    def slow_opener(_progress):
        gate.wait(30)
        return open_vault(sample, None, build=False)

    async def talk():
        session = Session(VaultRoot.open(sample), slow_opener, name="slow", wait_s=30)
        session.start()
        texts, answered = [], anyio.Event()

        async def call():
            texts.append((await client.call_tool("cypher_query", {"query": "RETURN 1"})).content[0].text)
            answered.set()

        async with Client(make_server(session), mode="legacy") as client, anyio.create_task_group() as calls:
            for _ in range(MOST_CALLS + 1):
                calls.start_soon(call)
            await answered.wait()
            quick = (await client.call_tool("ping", {})).content[0].text
            gate.set()
        session.close()
        return texts[0], quick, texts[1:]

    first, quick, others = anyio.run(talk)
    assert first == "busy: 64 calls run or wait. Ask again when some of them are answered."
    assert quick.startswith("pong\n")
    assert [text.split(" · ")[0] for text in others] == ["1\n1\n1 row"] * MOST_CALLS


def test_an_empty_input_ends_the_server_with_exit_code_0(sample):
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(sample)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_a_message_that_is_nested_too_deeply_is_refused_by_its_own_id(sample):
    deep = '{"a":' * 5000 + "1" + "}" * 5000
    lines = f'{{"jsonrpc":"2.0","id":"x","method":"ping","params":{deep}}}\n[[[\n{{"id":"{chr(92)}\n'
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(sample), "--vault-cache", "none"]
    done = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=60, check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["x", None, None]


def test_a_request_whose_id_is_neither_text_nor_a_whole_number_is_refused(sample):
    lines = [f'{{"jsonrpc":"2.0","id":{given},"method":"ping"}}' for given in ("null", "1.5", "true", "[]")]
    lines.insert(0, '{"jsonrpc":"2.0","method":"notifications/unknown"}')
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(sample), "--vault-cache", "none"]
    done = subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, timeout=60, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [(None, -32600)] * 4
    assert replies[0]["error"]["message"] == "A request needs an id that is text or a whole number."
