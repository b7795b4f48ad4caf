"""Open one vault with one program in this fresh process, and print what it cost as one JSON line.

usage: library_run.py vaultgraph|kglite VAULT cache|none

Starting Python and importing the program are over before the clock starts: `open_ms` is the call alone, `close_ms` what
is left to do when it is closed. It runs under the Python of its side, so it imports nothing but that side.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

COUNT_NODES = "MATCH (n) RETURN count(n) AS found"
COUNT_RELATIONSHIPS = "MATCH ()-[r]->() RETURN count(r) AS found"


@dataclass(frozen=True, slots=True)
class Opened:
    """``count`` runs a counting query; ``close`` ends what opening began, writing the cache included.

    ``parsed``: how many notes were parsed, None where the program does not say.
    """

    count: Callable[[str], int]
    close: Callable[[], object]
    parsed: int | None = None


def open_vaultgraph(vault: str, *, cached: bool) -> Opened:
    """Open with vaultgraph, which writes its cache in the background or at the latest when it is closed."""
    opened = OPEN["vaultgraph"](vault, cache="default" if cached else None)
    return Opened(lambda text: opened.query(text).rows[0][0], opened.close, opened.report.parsed)


def open_kglite(vault: str, *, cached: bool) -> Opened:
    """Open with kglite: the bare build without a cache; with one, `open`, which writes it before it returns."""
    okf = OPEN["kglite"]
    graph = okf.open(vault, dialect="obsidian") if cached else okf.build(vault, dialect="obsidian")
    return Opened(lambda text: next(iter(graph.cypher(text)))["found"], lambda: None)


OPEN: dict = {}


def import_side(side: str) -> None:
    """Import what the side needs, before anything is timed: modules loaded late too, by opening a vault of one note."""
    if side == "kglite":
        import kglite.okf

        OPEN[side] = kglite.okf
    else:
        import vaultgraph

        OPEN[side] = vaultgraph.open
    with tempfile.TemporaryDirectory(prefix="vaultgraph-bench-") as small:
        Path(small, "note.md").write_text("---\nkey: value\n---\n[[note]] #tag\n", encoding="utf-8")
        open_side(side, small, cached=False).close()


def open_side(side: str, vault: str, *, cached: bool) -> Opened:
    """Open with the named side."""
    return (open_kglite if side == "kglite" else open_vaultgraph)(vault, cached=cached)


def peak_mb() -> float:
    """The most memory this process ever held, from /proc where there is one."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))


def main() -> None:
    """See the module."""
    side, vault, cache = sys.argv[1:]
    import_side(side)
    begin = time.perf_counter()
    opened = open_side(side, vault, cached=cache == "cache")
    open_ms = (time.perf_counter() - begin) * 1e3
    cost = {"open_ms": open_ms, "nodes": opened.count(COUNT_NODES), "relationships": opened.count(COUNT_RELATIONSHIPS)}
    begin = time.perf_counter()
    opened.close()
    cost["close_ms"] = (time.perf_counter() - begin) * 1e3
    cost["peak_mb"] = peak_mb()
    if opened.parsed is not None:
        cost["parsed"] = opened.parsed
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
