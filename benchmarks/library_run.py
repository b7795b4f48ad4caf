"""Open one vault with one program in this fresh process, and print what it cost as one JSON line.

usage: library_run.py vaultgraph|kglite VAULT cache|none

Starting Python and importing the program are over before the clock starts: `open_ms` is the call alone. It runs under
the Python of its side, so it imports nothing but that side.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

COUNT_NODES = "MATCH (n) RETURN count(n) AS found"
COUNT_RELATIONSHIPS = "MATCH ()-[r]->() RETURN count(r) AS found"


def open_vaultgraph(vault: str, *, cached: bool) -> Callable[[str], int]:
    """Open with vaultgraph; the answer runs a counting query."""
    opened = OPEN["vaultgraph"](vault, cache="default" if cached else None)
    return lambda text: opened.query(text).rows[0][0]


def open_kglite(vault: str, *, cached: bool) -> Callable[[str], int]:
    """Open with kglite: the bare build without a cache, `open` with one."""
    okf = OPEN["kglite"]
    graph = okf.open(vault, dialect="obsidian") if cached else okf.build(vault, dialect="obsidian")
    return lambda text: next(iter(graph.cypher(text)))["found"]


OPEN: dict = {}


def import_side(side: str) -> None:
    """Import what the side needs, query engine included, before anything is timed."""
    if side == "kglite":
        import kglite.okf

        OPEN[side] = kglite.okf
    else:
        import vaultgraph

        OPEN[side] = vaultgraph.open


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
    count = (open_kglite if side == "kglite" else open_vaultgraph)(vault, cached=cache == "cache")
    opened = time.perf_counter()
    nodes = count(COUNT_NODES)
    answered = time.perf_counter()
    print(
        json.dumps(
            {
                "open_ms": (opened - begin) * 1e3,
                "first_query_ms": (answered - opened) * 1e3,
                "peak_mb": peak_mb(),
                "nodes": nodes,
                "relationships": count(COUNT_RELATIONSHIPS),
            }
        )
    )


if __name__ == "__main__":
    main()
