"""Measure how cost grows with the size of a vault: build, cached open, refresh after one edit, queries, memory.

usage: scale.py [--notes 10000 30000 100000] [--links-per-note 10] [--edits 5] [--keep FOLDER]

Each size is a generated vault (make_vault) in a temporary folder and a process of its own, so that peaks are its own.
Starting Python and imports are not counted. CPU time stands beside wall time: on a busy machine only the former says
how the work grows. The last table divides each cost by the notes; a cost that grows with them stays level there.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from library_run import import_side, peak_mb
from make_vault import Size, make_vault

QUERIES = {
    "RETURN 1": "RETURN 1 AS one",
    "one hop": "MATCH (n {path: $path})-[:LINKS_TO]->(m) RETURN m.title ORDER BY m.title",
    "count notes": "MATCH (n:Note) RETURN count(n)",
}
EDITS = {
    "text edited": "More text, no link.\n",
    "link added": "[[{stem}]]\n",
    "link to nothing added": "[[Nobody has this name {number}]]\n",
}
REPEATS = 20
SETTLED_S = 2.5  # after it a stamp is trusted, and work in the background is over
PER_NOTE = ("build", "cached open", *(f"refresh, {name}" for name in EDITS), "whole folder, nothing changed")


def timed(call: Callable[[], object]) -> tuple[float, float, object]:
    """Milliseconds by the clock and of CPU, and what the call returned."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, found


def median_of(calls: list[tuple[float, float, object]]) -> list[float]:
    """Median wall and CPU milliseconds."""
    return [
        round(statistics.median(column), 2) for column in zip(*((wall, cpu) for wall, cpu, _ in calls), strict=True)
    ]


def measure(vault: Path, edits: int) -> dict[str, list[float]]:
    """All figures of one vault, in this process: [wall ms, CPU ms], [MB] or [count] by name."""
    import_side("vaultgraph")
    import vaultgraph

    figures: dict[str, list[float]] = {}
    wall, cpu, built = timed(lambda: vaultgraph.open(vault))
    figures["build"] = [wall, cpu]
    figures["peak of the build, MB"] = [peak_mb()]
    figures["cache written"] = list(timed(built.close)[:2])
    del built  # no more than one vault at a time in memory
    cache = vault / ".kglite" / "graph.kgl"
    figures[".kgl, MB"] = [cache.stat().st_size / 1e6]
    opens = []
    for _ in range(3):
        wall, cpu, opened = timed(lambda: vaultgraph.open(vault))
        opens.append((wall, cpu, None))
        opened.close()
        del opened
    figures["cached open"] = median_of(opens)
    with vaultgraph.open(vault, watch="auto") as opened:
        opened.query("RETURN 1")
        time.sleep(SETTLED_S)
        notes = sorted(vault.rglob("*.md"))
        note = notes[len(notes) // 2]
        for name, text in EDITS.items():
            rounds = []
            for number in range(edits + 1):
                with note.open("a", encoding="utf-8") as file:
                    file.write(text.format(stem=notes[number].stem, number=number))
                rounds.append(timed(lambda: opened.query("RETURN 1")))  # which hears of the edit first
                time.sleep(SETTLED_S)
            figures[f"refresh, {name}"] = median_of(rounds[1:])  # the first one loads what is loaded late
        figures["whole folder, nothing changed"] = median_of([timed(opened.refresh) for _ in range(edits)])
        path = note.relative_to(vault).as_posix()
        for name, query in QUERIES.items():
            asked = partial(opened.query, query, **({"path": path} if "$path" in query else {}))
            asked()
            figures[f"query: {name}"] = median_of([timed(asked) for _ in range(REPEATS)])
        for label, query in (("nodes", "MATCH (n) RETURN count(n)"), ("links", "MATCH ()-[r]->() RETURN count(r)")):
            figures[label] = [opened.query(query).rows[0][0]]
    figures["peak, MB"] = [peak_mb()]
    return figures


def measured_apart(vault: Path, edits: int) -> dict[str, list[float]]:
    """`measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", str(vault), "--edits", str(edits)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shown(cell: list[float]) -> str:
    """Wall and CPU milliseconds as `12.3 (10.1)`, everything else as it is."""
    return f"{cell[0]:,.1f} ({cell[1]:,.1f})" if len(cell) == 2 else f"{cell[0]:,.0f}"


def print_table(title: str, heads: list[str], rows: dict[str, list[str]]) -> None:
    """A Markdown table, columns aligned for reading."""
    widths = [
        max(map(len, column)) for column in zip(heads, *([name, *cells] for name, cells in rows.items()), strict=True)
    ]
    lines = [heads, *([name, *cells] for name, cells in rows.items())]
    shaped = [
        "| "
        + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 1) + ("-" if at == 0 else ":") for at, width in enumerate(widths)) + "|"
    print("\n".join([title, "", shaped[0], rule, *shaped[1:], ""]))


def report(found: dict[int, dict[str, list[float]]]) -> None:
    """The figures by size, and the CPU time of each cost in microseconds a note."""
    heads = ["wall ms (CPU ms)", *(f"{notes:,}" for notes in found)]
    names = list(next(iter(found.values())))
    print_table("Cost by number of notes", heads, {n: [shown(f[n]) for f in found.values()] for n in names})
    level: dict[str, list[str]] = {}
    for name in (*PER_NOTE, "cache written"):
        level[name] = [f"{figures[name][1] * 1e3 / notes:,.1f}" for notes, figures in found.items()]
    print_table("CPU µs a note", ["cost", *heads[1:]], level)


def main() -> int:
    """Command line: see the module."""
    parser = argparse.ArgumentParser(description="Measure growth with the number of notes.")
    parser.add_argument("--notes", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--links-per-note", type=int, default=10)
    parser.add_argument("--edits", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="folder for the vaults, which stay there; those found are used")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.edits)))
        return 0
    found: dict[int, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory(prefix="vaultgraph-scale-") as temporary:
        for notes in options.notes:
            vault = (options.keep or Path(temporary)) / f"vault-{notes}"
            if not vault.exists():
                size = Size(notes=notes, links=notes * options.links_per_note, images=notes // 25, folders=notes // 200)
                made = make_vault(vault, size)
                print(", ".join(f"{count:,} {name}" for name, count in made.items()), flush=True)
            found[notes] = measured_apart(vault, options.edits)
    report(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
