"""What is measured, one function a group. Both sides take turns inside every repetition, so drift hits both alike.

Each function fills a `Figures` table: a list of values by figure name and side, or the reason why there is none.
"""

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mcp_stdio import Reply, Server
from sides import CACHE, Side, SideError
from vaults import Sample, forget_cache

COUNT_NODES = "MATCH (n) RETURN count(n) AS found"
VISIBLE = "MATCH (n) WHERE n.title = $title RETURN count(n) AS found"
EDIT_TIMEOUT_S = 30.0
PAUSE_S = 0.7  # between edits, so that one is over before the next begins
REST_S = 2.1  # after files were written: no stamp is trusted of a file that changed in the last two seconds


@dataclass(slots=True)
class Figures:
    """``values[figure][side]``: repetitions in order; ``failures[figure][side]``: why there are none."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failures: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, figure: str, side: Side, value: float) -> None:
        """One more repetition."""
        self.values.setdefault(figure, {}).setdefault(side.name, []).append(value)

    def fail(self, figure: str, side: Side, reason: str) -> None:
        """The side has no such figure; the first reason stays."""
        self.failures.setdefault(figure, {}).setdefault(side.name, reason)

    @contextmanager
    def noting(self, figure: str, side: Side) -> Iterator[None]:
        """A failure of the block becomes the figure's reason instead of ending the run."""
        try:
            yield
        except SideError as error:
            self.fail(figure, side, str(error))


Vaults = dict[Side, Path]


def turns(vaults: Vaults, repetition: int) -> list[tuple[Side, Path]]:
    """Every side once, in an order that changes with each repetition."""
    pairs = list(vaults.items())
    return pairs if repetition % 2 == 0 else pairs[::-1]


def measure_library(figures: Figures, vaults: Vaults, runs: int) -> None:
    """Opening in a fresh process: built without a cache, built with writing one, and from the cache."""
    for repetition in range(-1, runs):  # -1 warms the page cache and is not kept
        for side, vault in turns(vaults, repetition):
            time.sleep(REST_S)
            for figure, cached, forget in (
                ("library: cold build", False, False),
                ("library: cold build + cache written", True, True),
                ("library: cached open", True, False),
            ):
                with figures.noting(f"{figure}, ms", side):
                    if forget:
                        forget_cache(vault)
                    before = cache_stamp(vault)
                    cost = side.library(vault, cached=cached)
                    if cached and not forget and cache_stamp(vault) != before:
                        raise SideError("the cache was written again: this open did not use it")
                    took_ms = float(cost["open_ms"]) + (float(cost["close_ms"]) if forget else 0.0)
                    if repetition >= 0:
                        figures.add(f"{figure}, ms", side, took_ms)
                        figures.add(f"{figure}, peak MB", side, float(cost["peak_mb"]))
                    if figure == "library: cold build" and repetition == 0:
                        figures.add("nodes", side, float(cost["nodes"]))
                        figures.add("relationships", side, float(cost["relationships"]))
            with figures.noting("library: open of a clone, ms", side):
                measure_clone(figures, side, vault, repetition)


def measure_clone(figures: Figures, side: Side, vault: Path, repetition: int) -> None:
    """Opening with the cache after every file got a new time, on a machine that has never seen the vault."""
    made = time.time() - 3600 * (repetition + 2)
    for path in vault.rglob("*"):
        os.utime(path, (made, made), follow_symlinks=False)
    before = cache_stamp(vault)
    with tempfile.TemporaryDirectory(prefix="vaultgraph-bench-") as home:
        cost = side.library(vault, cached=True, home=Path(home))
    if repetition < 0:
        return
    figures.add("library: open of a clone, ms", side, float(cost["open_ms"]))
    figures.add("library: open of a clone, cache written anew", side, float(cache_stamp(vault) != before))
    if "parsed" in cost:
        figures.add("library: open of a clone, notes parsed", side, float(cost["parsed"]))


def measure_spawn(figures: Figures, vaults: Vaults, runs: int) -> None:
    """A server process from spawn to its handshake and to its first right answer, without and with a cache."""
    for cached, figure in ((False, "server: no cache"), (True, "server: from cache")):
        for repetition in range(-1 if cached else 0, runs):  # with a cache, -1 writes it
            for side, vault in turns(vaults, repetition):
                with figures.noting(f"{figure}, spawn → first answer, ms", side):
                    if repetition < 0:
                        write_cache(side, vault)
                    else:
                        start_once(figures, side, vault, figure, cached=cached)


def start_once(figures: Figures, side: Side, vault: Path, figure: str, *, cached: bool) -> None:
    """One start up to the first answer; a start that rewrote its cache did not use it, and is a failure."""
    before = cache_stamp(vault)
    with Server(side.server_command(vault, cached=cached)) as server:
        first_count(server)
        first_ms, peak_mb = server.since_spawn_ms(), server.peak_mb()
    if cached and cache_stamp(vault) != before:
        raise SideError("the cache was written again: this start did not use it")
    figures.add(f"{figure}, spawn → handshake, ms", side, server.initialize_ms)
    figures.add(f"{figure}, spawn → first answer, ms", side, first_ms)
    figures.add(f"{figure}, peak MB", side, peak_mb)


def cache_stamp(vault: Path) -> tuple[int, int] | None:
    """Size and time of the vault's cache file; None without one."""
    path = vault / CACHE
    return (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else None


def write_cache(side: Side, vault: Path) -> None:
    """Start once so that a cache is there; wait until it stays as it is, for it may be written after an answer."""
    with Server(side.server_command(vault, cached=True)) as server:
        first_count(server)
        deadline, seen = time.perf_counter() + 20, None
        while time.perf_counter() < deadline:
            now = cache_stamp(vault)
            if now and now == seen:
                return
            seen = now
            time.sleep(0.3)
    raise SideError("no cache was written within 20 s of the first answer")


def measure_edits(figures: Figures, vaults: Vaults, sample: Sample, runs: int) -> None:
    """From closing a written note to the first answer that knows the link added to it, as the client sees it."""
    with ExitStack() as stack:
        servers: dict[Side, Server] = {}
        for side, vault in vaults.items():
            with figures.noting("edit → visible answer, ms", side):
                servers[side] = stack.enter_context(Server(side.server_command(vault, cached=True)))
                first_count(servers[side])
        time.sleep(PAUSE_S)
        for repetition in range(runs):
            for side, vault in turns(vaults, repetition):
                if side not in servers:
                    continue
                with figures.noting("edit → visible answer, ms", side):
                    visible_ms, longest_ms = edit(servers[side], vault / sample.note, repetition)
                    figures.add("edit → visible answer, ms", side, visible_ms)
                    figures.add("edit → visible answer, its longest call, ms", side, longest_ms)
                time.sleep(PAUSE_S)


def edit(server: Server, note: Path, repetition: int) -> tuple[float, float]:
    """Append a link to a note nobody has, and ask for that name until it is found.

    Returns milliseconds since the file was closed, and the longest round trip on the way.
    """
    title = f"Benchmark target {repetition} {time.time_ns()}"
    with note.open("ab") as file:
        file.write(f"\n\n[[{title}]]\n".encode())
    closed = time.perf_counter()
    longest_ms = 0.0
    while time.perf_counter() - closed < EDIT_TIMEOUT_S:
        reply = server.call("cypher_query", {"query": VISIBLE, "params": {"title": title}})
        longest_ms = max(longest_ms, reply.elapsed_ms)
        if (number_in(reply) or 0) > 0:
            return (time.perf_counter() - closed) * 1e3, longest_ms
    raise SideError(f"the edit was not visible after {EDIT_TIMEOUT_S:.0f} s")


def first_count(server: Server) -> int:
    """Ask for the number of nodes until the server gives it; it may say that it is still building.

    Raises: SideError when there is no number in time.
    """
    deadline = time.perf_counter() + server.timeout_s
    while time.perf_counter() < deadline:
        reply = server.call("cypher_query", {"query": COUNT_NODES})
        found = number_in(reply)
        if found is not None:
            return found
        if reply.failed and "build" not in reply.text:
            raise SideError(f"counting failed: {reply.text.strip()[:200]}")
        time.sleep(0.005)
    raise SideError(f"no count after {server.timeout_s:.0f} s: {reply.text.strip()[:200]}")


def number_in(reply: Reply) -> int | None:
    """The single number of a one-row, one-column answer printed as text by either side; None if there is none."""
    found = None if reply.failed else re.search(r"(?m)^(\d+)$", reply.text)
    return int(found[1]) if found else None


def calls_about(sample: Sample) -> dict[str, tuple[str, dict[str, object]]]:
    """The tool calls whose round trips are timed: figure → tool and arguments. Both servers know all of them."""
    path = {"path": sample.note}
    queries: dict[str, tuple[str, dict[str, object]]] = {
        "RETURN 1": ("RETURN 1", {}),
        "one note by path": ("MATCH (n) WHERE n.file_path = $path RETURN n.title", path),
        "one hop": ("MATCH (n)-[:LINKS_TO]->(m) WHERE n.file_path = $path RETURN m.title", path),
        "two hops": ("MATCH (n)-[:LINKS_TO*1..2]->(m) WHERE n.file_path = $path RETURN count(DISTINCT m)", path),
        "count a label": ("MATCH (t:Tag) RETURN count(t)", {}),
        "count all relationships": ("MATCH ()-[r]->() RETURN count(r)", {}),
        "ten most linked": (
            "MATCH (m)<-[r:LINKS_TO]-() RETURN m.title AS title, count(r) AS links ORDER BY links DESC LIMIT 10",
            {},
        ),
        "word in bodies": ("MATCH (n) WHERE n.body CONTAINS $word RETURN count(n)", {"word": sample.word}),
        "100 titles": ("MATCH (n) RETURN n.title LIMIT 100", {}),
        "syntax error": ("MATCH (n) RETRUN n", {}),
    }
    calls = {
        figure: ("cypher_query", {"query": query, **({"params": params} if params else {})})
        for figure, (query, params) in queries.items()
    }
    calls["overview"] = ("graph_overview", {})
    calls["grep"] = ("grep", {"pattern": sample.word, "max_results": 20})
    calls["read_source"] = ("read_source", {"file_path": sample.note})
    calls["list_source"] = ("list_source", {})
    if sample.image:
        calls["fetch_images"] = ("fetch_images", {"items": [sample.image]})
    calls["ping"] = ("ping", {})
    return calls


def measure_calls(figures: Figures, vaults: Vaults, sample: Sample, repeats: int) -> None:
    """Round trips and reply sizes on warm servers, and what the servers held at most when all was asked."""
    with ExitStack() as stack:
        servers: dict[Side, Server] = {}
        for side, vault in vaults.items():
            with figures.noting("tools/list, bytes", side):
                server = stack.enter_context(Server(side.server_command(vault, cached=True)))
                first_count(server)
                servers[side] = server
                figures.add("tools/list, bytes", side, server.request("tools/list", {}).size_bytes)
        for name, (tool, arguments) in calls_about(sample).items():
            for repetition in range(-2, repeats):  # two unmeasured calls first
                for side in [side for side, _ in turns(vaults, repetition) if side in servers]:
                    with figures.noting(f"{name}, ms", side):
                        time_call(
                            figures, side, name, lambda s=servers[side], t=tool, a=arguments: s.call(t, a), repetition
                        )
        for side, server in servers.items():
            figures.add("server: after all calls, peak MB", side, server.peak_mb())


def time_call(figures: Figures, side: Side, name: str, call: Callable[[], Reply], repetition: int) -> None:
    """One call; an answer that should not fail but does, or the reverse, is a failure of the figure."""
    reply = call()
    if reply.failed != (name == "syntax error"):
        raise SideError(
            "an error was answered: " + reply.text.strip()[:160] if reply.failed else "no error was answered"
        )
    if repetition >= 0:
        figures.add(f"{name}, ms", side, reply.elapsed_ms)
    if repetition == 0:
        figures.add(f"{name}, bytes", side, reply.size_bytes)
