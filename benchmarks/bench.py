"""Measure vaultgraph and kglite in one run, side by side, and write what was found as JSON and as a table.

usage: python benchmarks/bench.py [--vault NAME_OR_PATH …] [--runs N] [--only GROUP …]

Nothing is written into a vault that is named: both sides work on copies in a temporary folder.
"""

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from make_vault import Size
from measures import Figures, measure_calls, measure_edits, measure_library, measure_spawn
from queries import measure_queries
from sides import Side, SideError, both_sides
from table import summarise, table
from vaults import STANDARD, copy_for, prepare, sample, shared_names

GROUPS = ("library", "spawn", "edit", "calls", "queries")
OUT = Path(__file__).resolve().parent / "out"


def measure_vault(name: str, sides: list[Side], options: argparse.Namespace) -> dict[str, object]:
    """All chosen groups on one vault; prints its table and returns what goes into the JSON."""
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="vaultgraph-bench-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        size = Size(**{field.name: getattr(options, field.name) for field in fields(Size)})
        source = prepare(name, work, size)
        asked = sample(source)
        copies = {side: copy_for(side.name, source, work) for side in sides}
        groups = {
            "library": lambda: measure_library(figures, copies, options.runs),
            "spawn": lambda: measure_spawn(figures, copies, options.runs),
            "edit": lambda: measure_edits(figures, copies, asked, options.runs),
            "calls": lambda: measure_calls(figures, copies, asked, options.repeats),
            "queries": lambda: measure_queries(figures, copies, options.repeats),
        }
        for group in options.only:
            print(f"{name}: {group} …", file=sys.stderr, flush=True)
            groups[group]()
    summary = summarise(figures)
    title = f"## {name}: {asked.notes:,} notes, {asked.size_bytes / 1e6:.1f} MB"
    print(table(title, summary, [side.name for side in sides]), flush=True)
    return {"notes": asked.notes, "size_bytes": asked.size_bytes, "asked": asked.note, "figures": summary}


def machine() -> dict[str, object]:
    """What the figures depend on."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "load_1_min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command line options; see ``README.md`` beside this file."""
    parser = argparse.ArgumentParser(description="Measure vaultgraph and kglite in one run.")
    parser.add_argument(
        "--vault",
        action="append",
        metavar="NAME|PATH",
        help=f"'{STANDARD}' (generated), a packed shared vault's name, or a folder; repeatable (default: {STANDARD} "
        "and every packed vault that is found)",
    )
    parser.add_argument("--runs", type=int, default=5, help="repetitions of builds, starts and edits (default 5)")
    parser.add_argument("--repeats", type=int, default=30, help="repetitions of each call (default 30)")
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure only this group; repeatable")
    parser.add_argument("--kglite-python", default=sys.executable, help="Python that has kglite (default: this one)")
    parser.add_argument("--out", type=Path, help="JSON file to write (default: benchmarks/out/<time>.json)")
    for field in fields(Size):
        parser.add_argument(
            f"--{field.name}", type=int, default=field.default, help=f"{STANDARD} vault: {field.default}"
        )
    options = parser.parse_args(arguments)
    options.vault = options.vault or [STANDARD, *shared_names()]
    options.only = [group for group in GROUPS if group in (options.only or GROUPS)]
    return options


def main() -> int:
    """Measure, print, write. Exit code 1 when a vault or a whole side is missing."""
    options = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the temporary folder is removed
    made = datetime.now(UTC)
    sides, versions, missing = [], {}, 0
    for side in both_sides(sys.executable, options.kglite_python):
        try:
            versions[side.name] = side.version()
            sides.append(side)
        except SideError as error:
            versions[side.name] = f"missing: {error}"
            missing = 1
    print(", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
    result: dict[str, object] = {"made": made.isoformat(timespec="seconds"), "versions": versions, "machine": machine()}
    result["runs"], result["repeats"] = options.runs, options.repeats
    measured: dict[str, object] = {}
    result["vaults"] = measured
    path = options.out or OUT / f"{made:%Y%m%d-%H%M%S}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in options.vault:
        try:
            measured[name] = measure_vault(name, sides, options)
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            missing = 1
        # After every vault, so that a run that is stopped loses one vault and not all.
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written to {path}")
    return missing


if __name__ == "__main__":
    sys.exit(main())
