"""The snapshot a refresh gives, with its report: counts of what was found, and what the vault declares.

Reads what building left and decides nothing; vault/vault swaps the snapshot in, serve/report prints the report.
"""

import time
from datetime import UTC, datetime
from typing import Final

import polars as pl

from vaultgraph.graph.graph import label_counts
from vaultgraph.graph.schema import schema_of
from vaultgraph.note.records import PieceKind, RecordTable
from vaultgraph.vault.refresh import Refreshed
from vaultgraph.vault.snapshot import Origin, Report, Snapshot

PARTS: Final = {
    PieceKind.SECTION: "sections",
    PieceKind.CHUNK: "chunks",
    PieceKind.CALLOUT: "callouts",
    PieceKind.FENCE: "code fences",
    PieceKind.LIST: "ordered lists",
    PieceKind.STEP: "list steps",
    PieceKind.ROW: "table rows",
    PieceKind.TASK: "tasks",
}
"""What is counted of the parts of notes that become nodes."""


def snapshot_of(generation: int, done: Refreshed, origin: Origin, cache: str | None) -> Snapshot:
    """The snapshot of what a refresh has ``done``; ``cache``: one line about the cache file."""
    start = time.perf_counter()
    schema = schema_of(done.graph, done.profile.indexes)
    schema_ms = round((time.perf_counter() - start) * 1000, 2)
    assert done.state.stamps is not None
    return Snapshot(
        generation=generation,
        graph=done.graph,
        schema=schema,
        records=done.state.records,
        stamps=done.state.stamps,
        profile=done.profile,
        guidance=done.guided.guidance,
        report=report_of(done, origin, cache, schema_ms),
        built_at=datetime.now(UTC),
    )


def report_of(done: Refreshed, origin: Origin, cache: str | None, schema_ms: float) -> Report:
    """The report; ``cache``: one line about the cache file, ``schema_ms``: what describing the graph took."""
    graph, stated, profile, guidance = done.graph, done.state.records.listing, done.profile, done.guided.guidance
    types = {name: table.size for name, table in graph.relationships.items()}
    others = {
        "skipped_notes": int(stated["is_skipped"].sum()),
        "canvases": int((stated["is_canvas"] & ~stated["is_skipped"]).sum()),
    }
    # Of files and notes the report has its own figures, which know of skipped ones.
    counts = {name: count for name, count in done.state.built.counts.items() if name not in ("files", "notes")}
    assert done.state.stamps is not None
    return Report(
        files=done.state.stamps.files.height,
        notes=stated.height - sum(others.values()),
        nodes=graph.node_count,
        relationships=graph.relationship_count,
        labels=label_counts(graph),
        types=dict(sorted(types.items(), key=lambda item: (-item[1], item[0]))),
        counts={**counts, **others},
        derived=_parts(done.state.records),
        indexes=profile.indexes,
        text_indexes=profile.text_indexes,
        embed=profile.embed,
        ignored_keys=profile.ignored_keys,
        skills=tuple(skill.name for skill in guidance.skills) if guidance else (),
        recipes=tuple(recipe.name for recipe in guidance.recipes) if guidance else (),
        problems=done.state.built.problems,
        phases_ms={**done.phases_ms, "schema": schema_ms},
        origin=origin,
        parsed=done.parsed,
        cache=cache,
    )


def _parts(records: RecordTable) -> dict[str, int]:
    """How many parts of notes became nodes, by kind."""
    if not records.pieces.height:
        return {}
    skipped = records.listing.with_row_index("note").filter("is_skipped")["note"]
    kinds = records.pieces.filter(~pl.col("note").is_in(skipped.implode()))["kind"].value_counts()
    found = dict(kinds.iter_rows())
    return {name: int(found[kind]) for kind, name in PARTS.items() if kind in found}
