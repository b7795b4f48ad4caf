"""What a running Obsidian recorded, and the graph of the vault it was recorded in."""

import json
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.files.stamps import Stamps, problem_frame
from vaultgraph.graph.build import build_graph
from vaultgraph.graph.built import Built
from vaultgraph.note.read import read_notes
from vaultgraph.profile.settings import Profile

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared"))
VAULTS = SHARED / "vaults"
RECORDED = "tasks-demo"
PLACEHOLDERS = VAULTS / "placeholders.txt"
LINKS = """
    MATCH (a:Note)-[r]->(b) WHERE a.path IN $paths AND r.line IS NOT NULL AND r.via IS NULL AND b.path IS NOT NULL
      AND b._provisional IS NULL
    RETURN a.path, b.path, r.anchor, type(r) STARTS WITH 'HAS_' AS is_file, coalesce(r.count, 1)
"""


@pytest.fixture(scope="session")
def build_packed() -> Callable[[str], tuple[Built, dict[str, bytes]]]:
    """Reads and builds a packed vault in memory: the build, and its notes by path."""

    def run(name: str) -> tuple[Built, dict[str, bytes]]:
        notes, sizes = packed_files(name)
        return built(notes, sizes), notes

    return run


def recordings() -> list[Path]:
    return sorted((SHARED / "oracle" / "recordings").glob("*.json"))


@dataclass(frozen=True)
class Recorded:
    """``dumps`` by path of the note; ``links``: (source, target, anchor, is_file, count) of the graph's links from them
    that are Obsidian's and lead to a file."""

    dumps: dict[str, dict[str, Any]]
    links: list[tuple[str, str, str | None, bool, int]]


@pytest.fixture(scope="session")
def recorded_vault() -> Recorded:
    """The vault of the recordings, its notes as they were recorded, read and built in memory."""
    if not recordings() or not (VAULTS / f"{RECORDED}.tar.xz").is_file():
        pytest.skip(f"no recordings with their vault under {SHARED}")
    dumps = {dump["filePath"]: dump for dump in map(_dump, recordings())}
    notes, sizes = packed_files(RECORDED)
    notes |= {path: dump["fileContents"].encode() for path, dump in dumps.items()}
    graph = built(notes, sizes).graph
    return Recorded(dumps, list(run_query(graph, LINKS, {"paths": list(dumps)}).rows))


def _dump(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def packed_files(name: str) -> tuple[dict[str, bytes], dict[str, int]]:
    """The notes of a packed vault by path, and the size of every file; large files were emptied before packing."""
    notes, sizes = {}, {}
    true_sizes = dict(line.rsplit(" ", 1) for line in PLACEHOLDERS.read_text(encoding="utf-8").splitlines() if line)
    with tarfile.open(VAULTS / f"{name}.tar.xz") as packed:
        for member in packed:
            path = member.name.partition("/")[2]
            if not member.isfile() or any(part.startswith(".") for part in path.split("/")):
                continue
            sizes[path] = int(true_sizes.get(member.name, member.size))
            if path.lower().endswith((".md", ".canvas")):
                notes[path] = packed.extractfile(member).read()
    return notes, sizes


def built(notes: dict[str, bytes], sizes: dict[str, int]) -> Built:
    """The graph of a vault and its problems."""
    paths = sorted({*notes, *sizes})
    files = pl.DataFrame(
        {"path": paths, "size_bytes": [sizes.get(path, 0) for path in paths], "mtime_ns": [1] * len(paths)},
        schema={"path": pl.String, "size_bytes": pl.Int64, "mtime_ns": pl.Int64},
    )
    no_links = pl.DataFrame(schema={"path": pl.String, "target": pl.String})
    folders = sorted({path.rpartition("/")[0] for path in paths} - {""})
    stamps = Stamps(files=files, folders=folders, aliases=no_links, problems=problem_frame([]))
    return build_graph(read_notes(list(notes), list(notes.values())), stamps, Profile())
