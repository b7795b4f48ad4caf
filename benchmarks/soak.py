"""Serve for a long time: `python benchmarks/soak.py [--minutes 30] [--rate 200] [--clients 4] [--notes 1000]`.

The real server process over HTTP on a generated vault, clients that call all kinds of tools at a fixed rate in all
(half of them in each era of the protocol), and an editor that saves notes one by one, each save atomic. Checked: no
call fails that should not; answers of a generation never differ; what several notes and their links say together is a
state the folder had, no older than the call; generations never go back; the memory of the server has no slope (least
squares over the second half), neither at work nor at rest: once a minute all stop for some seconds, which tells what is
kept from what work takes for a while. Prints a table, then the faults; exits 1 where anything is wrong.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from make_vault import Size, make_vault

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ENVELOPE = {f"io.modelcontextprotocol/{name}": value for name, value in
            (("protocolVersion", MODERN), ("clientCapabilities", {}))}  # fmt: skip
RELAY = 8  # notes that are saved in turn: each carries the number of its round, twice, and a link that tells it
STATE = "MATCH (s:Relay) RETURN s.place AS place, s.round AS round, s.again AS again ORDER BY place"
LINKED = "MATCH (s:Relay)-[:LINKS_TO]->(m:Mark) RETURN s.place AS place, s.round AS round, m.parity ORDER BY place"
SUMS = "MATCH (s:Relay) RETURN count(*), sum(s.round), min(s.round), max(s.round), sum(s.again)"
TEXTS = "MATCH (s:Relay) WHERE s.body CONTAINS ('round ' + s.round + '.') RETURN count(*)"
SLOW = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b WITH a, b WHERE a * b = -1 RETURN count(*)"
SAMPLE_S = 2.0
MEANS_S = 30.0  # the slope is that of means, since samples close to each other are alike: that would hide its error
REST_EVERY_S, REST_S = 60.0, 6.0
KEPT_GENERATIONS = 400
MOST_PRINTED = 200  # faults


def relay_note(place: int, number: int) -> str:
    """The note at ``place`` in round ``number``; all of it changes in one save."""
    text = f"This is round {number}. The mark of this round is [[Mark {number % 2}]].\n"
    return f"---\ntype: Relay\nplace: {place}\nround: {number}\nagain: {number}\n---\n# Relay {place}\n\n{text}"


def save(path: Path, text: str) -> None:
    """Replace the file in one step, as careful editors do."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@dataclass
class Facts:
    """What the threads of this process know together."""

    folder: Path
    saved: int = 0  # how many relay saves are on disk: sum of the rounds
    edits: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    taken_ms: list[float] = field(default_factory=list)
    answers: dict[tuple[int, str], str] = field(default_factory=dict)
    behind_s: float = 0.0
    stale: int = 0  # answers that say that a refresh was still going on
    lock: threading.Lock = field(default_factory=threading.Lock)
    end: threading.Event = field(default_factory=threading.Event)
    may_work: threading.Event = field(default_factory=threading.Event)

    def fault(self, text: str) -> None:
        """Something is wrong; the first ones are printed."""
        with self.lock:
            self.faults.append(text)

    def same(self, generation: int, query: str, rows: str) -> None:
        """All clients see one answer of a generation."""
        with self.lock:
            before = self.answers.setdefault((generation, query), rows)
            while len(self.answers) > KEPT_GENERATIONS:
                del self.answers[next(iter(self.answers))]
        if before != rows:
            self.fault(f"generation {generation} answered {query!r} in two ways: {before!r}, {rows!r}")


class Editor(threading.Thread):
    """Saves the relay notes in turn, and between them edits, adds, renames and removes other notes."""

    def __init__(self, facts: Facts, pause_s: float) -> None:
        super().__init__(name="editor", daemon=True)
        self._facts, self._pause_s = facts, pause_s
        self._rng = random.Random(7)
        self._others = sorted(path for path in facts.folder.rglob("*.md") if path.parent.name != "Relay")
        self._added: list[Path] = []

    def run(self) -> None:
        number, place = 1, 0
        while not self._facts.end.wait(self._pause_s):
            self._facts.may_work.wait()
            save(self._facts.folder / f"Relay/Relay {place}.md", relay_note(place, number))
            self._facts.saved += 1
            self._facts.edits["relay"] += 1
            place = (place + 1) % RELAY
            number += place == 0
            if self._facts.end.wait(self._pause_s):
                return
            self._facts.may_work.wait()
            self._edit_another()

    def _edit_another(self) -> None:
        match self._rng.randrange(4):
            case 0:
                path = self._rng.choice(self._others)
                text = path.read_text(encoding="utf-8")
                # The vault must not grow for as long as this runs, or its memory rightly would.
                save(path, text.split("\n<!-- soak", 1)[0] + f"\n<!-- soak {self._rng.random()} -->\n")
                self._facts.edits["text"] += 1
            case 1 if len(self._added) < 20:
                path = self._facts.folder / f"Relay/Added {self._facts.edits['add'] % 40}.md"
                save(path, f"---\ntype: Added\nsize: {self._rng.random()}\n---\n[[Mark 0]] #soak\n")
                if path not in self._added:
                    self._added.append(path)
                self._facts.edits["add"] += 1
            case 2 if self._added:
                self._added.pop(0).unlink()
                self._facts.edits["remove"] += 1
            case _ if self._added:
                path = self._added.pop(0)
                self._added.append(path.replace(path.with_name(f"Moved {self._facts.edits['rename'] % 40}.md")))
                self._added = list(dict.fromkeys(self._added))
                self._facts.edits["rename"] += 1
            case _:
                pass


class Caller(threading.Thread):
    """One client: a connection of its own, calls at a fixed pace."""

    def __init__(self, facts: Facts, port: int, number: int, pace_s: float) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._facts, self._port, self._pace_s = facts, port, pace_s
        self._rng = random.Random(number)
        self._is_modern = number % 2 == 0
        self._notes = sorted(
            path.relative_to(facts.folder).as_posix()
            for path in facts.folder.rglob("*.md")
            if path.parent.name != "Relay"
        )
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._session: str | None = None
        self._id = 0
        self._generation = 0

    def run(self) -> None:
        due = time.perf_counter() + self._rng.random() * self._pace_s
        while not self._facts.end.wait(max(0.0, due - time.perf_counter())):
            self._facts.behind_s = max(self._facts.behind_s, time.perf_counter() - due)
            due += self._pace_s
            if not self._facts.may_work.is_set():
                self._facts.may_work.wait()
                due = time.perf_counter()
            try:
                self._step()
            except (OSError, http.client.HTTPException, ValueError, LookupError) as error:
                self._facts.fault(f"{self.name}: {type(error).__name__}: {error}")
                self._connection.close()
                self._session = None
        self._connection.close()

    def _step(self) -> None:
        choice = self._rng.randrange(100)
        if choice < 55:
            self._look(self._rng.choice((STATE, LINKED, SUMS, TEXTS)))
        elif choice < 97:
            self._other(choice)
        elif choice == 97:
            self._hang_up()
        elif choice == 98 and not self._is_modern:  # leave, and come back as another session
            if self._session:
                self._exchange("DELETE", None, {})
            self._session = None
            self._facts.calls["new session"] += 1
        else:
            rows = self._call("cypher_query", query="UNWIND range(1, 4000) AS i RETURN i")
            name = rows.rsplit('result_id="', 1)[1].split('"')[0]
            assert self._call("expand_response", result_id=name).startswith("i\n")

    def _other(self, choice: int) -> None:
        note = self._rng.choice(self._notes)
        match choice % 9:
            case 0:
                assert "Relay" in self._call("graph_overview")
            case 1:
                self._call("read_source", file_path=note)
            case 2:
                assert "Relay/" in self._call("grep", pattern="This is round", glob="Relay/*.md")
            case 3:
                assert self._call("ping").startswith("pong")
            case 4:
                self._call("list_source", path="Relay")
            case 5:
                assert "RETURN" in self._call("cypher_query", query="RETRUN 1", fails=True)
            case 6:
                assert len(self._request("tools/list", {})["tools"]) >= 9
            case 7:
                assert self._request("resources/list", {})["resources"]
            case _:
                self._call(
                    "cypher_query",
                    query="MATCH (n)-[:LINKS_TO]->(m) RETURN m.title, count(*) AS c ORDER BY c DESC LIMIT 5",
                )

    def _look(self, query: str) -> None:
        """A query on the relay, held against what must be true in every state the folder had."""
        least = self._facts.saved
        *lines, last = self._call("cypher_query", query=query).split("\n")
        if lines[-1].startswith("stale since"):  # told so: the state is whole, but not the newest
            lines.pop()
            least = 0
        generation = int(last.split("gen ")[1].split()[0])
        if generation < self._generation:
            self._facts.fault(f"generation {generation} after {self._generation}")
        self._generation = generation
        self._facts.same(generation, query, "\n".join(lines))
        try:
            sound, total = self._sums(query, [line.split("\t") for line in lines[1:]])
        except (ValueError, LookupError):
            sound, total = False, None
        if not sound:
            self._facts.fault(f"generation {generation} mixes states: {query}: {lines}")
        if total is not None and total < least:
            self._facts.fault(f"an answer of {total} saves after {least} were on disk")

    @staticmethod
    def _sums(query: str, cells: list[list[str]]) -> tuple[bool, int | None]:
        """Whether the answer is one of a state the folder had, and how many saves that state has; None: unsaid."""
        sound, total = True, None
        if query is STATE:
            rounds = [int(row[1]) for row in cells]
            sound = [int(row[0]) for row in cells] == list(range(RELAY)) and all(row[1] == row[2] for row in cells)
            sound = sound and rounds == sorted(rounds, reverse=True) and rounds[0] - rounds[-1] <= 1
            total = sum(rounds)
        elif query is LINKED:
            sound = len(cells) == RELAY and all(int(row[1]) % 2 == int(row[2]) for row in cells)
        elif query is SUMS:
            count, total, least_round, most_round, again = map(int, cells[0])
            sound = count == RELAY and total == again and most_round - least_round <= 1
            sound = sound and RELAY * least_round <= total <= RELAY * most_round
        else:
            sound = cells == [[str(RELAY)]]
        return sound, total

    def _hang_up(self) -> None:
        """Ask for what takes long, and leave."""
        self._facts.calls["hang up"] += 1
        content, headers = self._message("tools/call", {"name": "cypher_query", "arguments": {"query": SLOW}})
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request("POST", "/mcp", content, headers)
        connection.close()

    def _call(self, name: str, *, fails: bool = False, **arguments: object) -> str:
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        if bool(result.get("isError")) != fails:
            self._facts.fault(f"{name} {arguments}: {text[:300]}")
        if "stale since" in text:
            self._facts.stale += 1
        return text

    def _request(self, method: str, params: dict[str, object]) -> dict[str, object]:
        if not self._is_modern and self._session is None:
            self._open_session()
        start = time.perf_counter()
        content, headers = self._message(method, params)
        reply = self._exchange("POST", content, headers)
        self._facts.taken_ms.append((time.perf_counter() - start) * 1000)
        self._facts.calls[str(params.get("name", method))] += 1
        return self._result(reply)

    def _open_session(self) -> None:
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        self._exchange("POST", *self._message("initialize", hello))
        ready = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
        self._exchange("POST", ready, self._message("", {})[1])

    def _message(self, method: str, params: dict[str, object]) -> tuple[bytes, dict[str, str]]:
        self._id += 1
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self._is_modern:
            params = {**params, "_meta": ENVELOPE}
            headers |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
            headers |= {"Mcp-Name": str(params["name"])} if "name" in params else {}
        elif self._session:
            headers |= {"MCP-Protocol-Version": LEGACY, "Mcp-Session-Id": self._session}
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        return json.dumps(message).encode(), headers

    def _exchange(self, method: str, content: bytes | None, headers: dict[str, str]) -> bytes:
        if method == "DELETE":
            headers = {"MCP-Protocol-Version": LEGACY, "Mcp-Session-Id": str(self._session)}
        self._connection.request(method, "/mcp", content, headers)
        reply = self._connection.getresponse()
        body = reply.read()
        if reply.status >= 300:
            raise ValueError(f"status {reply.status}: {body[:300]!r}")
        self._session = reply.getheader("mcp-session-id") or self._session
        return body

    @staticmethod
    def _result(reply: bytes) -> dict[str, object]:
        text = reply.decode()
        if not text.startswith("{"):  # a stream of events, of which the last one is the answer
            text = [line[6:] for line in text.splitlines() if line.startswith("data: {")][-1]
        return json.loads(text)["result"]


def status(pid: int) -> dict[str, int]:
    """Memory in kB, threads, handles and processor time in ticks of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "VmHWM", "Threads"))}
    spent = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    handles = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return {name: int(value) for name, value in found.items()} | {
        "handles": handles,
        "ticks": int(spent[11]) + int(spent[12]),
    }


def means(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The means of time and value over stretches of MEANS_S."""
    stretches: dict[int, list[tuple[float, float]]] = {}
    for at, value in samples:
        stretches.setdefault(int(at // MEANS_S), []).append((at, value))
    return [
        (statistics.fmean(at for at, _ in part), statistics.fmean(v for _, v in part)) for part in stretches.values()
    ]


def slope(samples: list[tuple[float, float]]) -> tuple[float, float]:
    """Least squares: how much the value grows each hour, and the standard error of that."""
    if len(samples) < 3:
        return float("nan"), float("nan")
    mean_x = statistics.fmean(x for x, _ in samples)
    mean_y = statistics.fmean(y for _, y in samples)
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    per_s = sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread
    left = sum((y - mean_y - per_s * (x - mean_x)) ** 2 for x, y in samples)
    return per_s * 3600, (left / (len(samples) - 2) / spread) ** 0.5 * 3600


def soak(options: argparse.Namespace, folder: Path) -> int:
    """Run all of it; the exit code."""
    make_vault(folder, Size(notes=options.notes, links=6 * options.notes, images=20, folders=20, tags=100))
    (folder / "Relay").mkdir()
    for number in range(2):
        (folder / f"Relay/Mark {number}.md").write_text(f"---\ntype: Mark\nparity: {number}\n---\n")
    for place in range(RELAY):
        (folder / f"Relay/Relay {place}.md").write_text(relay_note(place, 0))
    command = [sys.executable, "-m", "vaultgraph.cli.main", "--vault", str(folder), "--http", "127.0.0.1:0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    said: list[str] = []
    try:
        line = next(line for line in server.stderr if "listening on" in line)
        reading = threading.Thread(target=lambda: said.extend(server.stderr), daemon=True)
        reading.start()
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
        time.sleep(2)
        facts = Facts(folder)
        callers = [Caller(facts, port, number, options.clients / options.rate) for number in range(options.clients)]
        threads = [Editor(facts, options.pause), *callers]
        facts.may_work.set()
        for thread in threads:
            thread.start()
        began, rows, rests, rest_at = time.perf_counter(), [], [], REST_EVERY_S
        first = status(server.pid)
        while (passed := time.perf_counter() - began) < options.minutes * 60 and server.poll() is None:
            time.sleep(SAMPLE_S)
            if passed >= rest_at:
                facts.may_work.clear()
                time.sleep(REST_S)
                rests.append((passed, status(server.pid)["VmRSS"] / 1024))
                facts.may_work.set()
                rest_at = passed + REST_EVERY_S
                continue
            rows.append((passed, status(server.pid)))
            if options.verbose and len(rows) % 15 == 0:
                print(f"{passed:6.0f} s {rows[-1][1]} {sum(facts.calls.values())} calls", file=sys.stderr, flush=True)
        load = os.getloadavg()
        last, passed = status(server.pid), time.perf_counter() - began
        facts.end.set()
        for thread in threads:
            thread.join(90)
        if server.poll() is not None:
            facts.fault(f"the server ended with {server.returncode}")
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(30)
        server.kill()
    if server.returncode:
        facts.fault(f"the server's exit code was {server.returncode}")
    facts.faults += [f"the server's log: {line.strip()}" for line in said if "vaultgraph:" not in line]
    report(facts, (rows, rests), passed, (first, last), load)
    return 1 if facts.faults else 0


def report(
    facts: Facts,
    samples: tuple[list[tuple[float, dict[str, int]]], list[tuple[float, float]]],
    passed: float,
    ends: tuple[dict[str, int], dict[str, int]],
    load: tuple[float, float, float],
) -> None:
    """Print the table, then the faults."""
    total, taken = sum(facts.calls.values()), sorted(facts.taken_ms)
    rows, rests = samples  # at work, and at rest
    kept, kept_error = slope([(at, value) for at, value in rests if at >= passed / 2])
    half = means([(at, row["VmRSS"] / 1024) for at, row in rows if at >= passed / 2])
    grows, error = slope(half)
    memory = [row["VmRSS"] / 1024 for _, row in rows]
    lines = {
        "minutes": f"{passed / 60:.1f}",
        "calls": f"{total:,} ({total / passed:.0f} a second)",
        "saves": f"{sum(facts.edits.values()):,} ({dict(facts.edits)})",
        "generations seen": f"{max((generation for generation, _ in facts.answers), default=0):,}",
        "faults": len(facts.faults),
        "answers that said they were behind": facts.stale,
        "median, 95th, 99th percentile, maximum": " / ".join(
            f"{taken[min(len(taken) - 1, int(len(taken) * part))]:.1f}" for part in (0.5, 0.95, 0.99, 1)
        )
        + " ms",
        "most a client was behind its pace": f"{facts.behind_s:.2f} s",
        "memory at the start, least, most, at the end": f"{ends[0]['VmRSS'] / 1024:.0f} / {min(memory):.0f} / "
        f"{max(memory):.0f} / {memory[-1]:.0f} MB",
        "slope over the second half": f"{grows:+.1f} ± {error:.1f} MB an hour "
        f"(mean {statistics.fmean(value for _, value in half):.0f} MB, {len(half)} means of {MEANS_S:.0f} s)",
        "memory at rest": f"{' '.join(f'{value:.0f}' for _, value in rests)} MB",
        "slope of that over the second half": f"{kept:+.1f} ± {kept_error:.1f} MB an hour",
        "threads, handles at the start and at the end": f"{ends[0]['Threads']}, {ends[0]['handles']} → "
        f"{ends[1]['Threads']}, {ends[1]['handles']}",
        "processor time of the server": f"{(ends[1]['ticks'] - ends[0]['ticks']) / 100 / passed:.2f} s a second",
        "load of the machine (1, 5, 15 minutes)": " / ".join(f"{value:.1f}" for value in load),
        "calls by kind": ", ".join(f"{name} {count:,}" for name, count in facts.calls.most_common()),
    }
    for name, value in lines.items():
        print(f"{name:<45} {value}")
    for fault in facts.faults[:MOST_PRINTED]:
        print("FAULT", fault[:600])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=200, help="calls a second of all clients together")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two saves")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        return soak(options, Path(place) / "vault")


if __name__ == "__main__":
    sys.exit(main())
