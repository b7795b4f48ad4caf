"""The report of a build, as text and as data: files, notes, nodes, relationships, links, what is declared, problems.

Shared by `rebuild_graph` and the command line's `build` and `check`; reads a Report only.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vaultgraph.serve.cells import counted, one_line
from vaultgraph.serve.problems import problem_lines, problem_summary, severity_counts
from vaultgraph.vault.snapshot import Report

ALWAYS_COUNTED: Final = ("links", "dangling_links", "missing_attachments", "ambiguous_attachments")
NOT_LISTED: Final = (*ALWAYS_COUNTED, "skipped_notes", "canvases")
ORIGINS: Final = {"built": "built from the notes", "cache": "opened from the cache", "refreshed": "refreshed"}


def report_text(report: Report) -> str:
    """Everything a build found: files, notes, nodes, relationships, links, what else there is any of, problems."""
    lines = [
        f"files scanned: {report.files:,}",
        f"notes: {report.notes:,}{_beside_notes(report.counts)}",
        f"nodes: {report.nodes:,} ({_with_counts(report.labels)})",
    ]
    if report.derived:
        lines.append(f"nodes from parts of notes: {sum(report.derived.values()):,} ({_with_counts(report.derived)})")
    lines.append(f"relationships: {report.relationships:,} ({_with_counts(report.types)})")
    others = sorted(name for name, count in report.counts.items() if count and name not in NOT_LISTED)
    lines += [f"{name.replace('_', ' ')}: {report.counts.get(name, 0):,}" for name in (*ALWAYS_COUNTED, *others)]
    lines += _declared(report)
    spent = " · ".join(f"{name} {ms:.0f} ms" for name, ms in report.phases_ms.items() if ms >= 1)
    lines.append(f"{ORIGINS[report.origin]}, {counted(report.parsed, 'file')} parsed{': ' + spent if spent else ''}")
    if report.cache:
        lines.append(f"cache: {report.cache}")
    lines.append(f"problems: {problem_summary(report.problems)}")
    return "\n".join([*map(one_line, lines), *problem_lines(report.problems)])


def report_data(report: Report) -> dict[str, Any]:
    """The report as JSON-ready data; lists are whole."""
    return {
        "files": report.files,
        "notes": report.notes,
        "nodes": report.nodes,
        "relationships": report.relationships,
        "labels": dict(report.labels),
        "types": dict(report.types),
        "derived": dict(report.derived),
        "counts": dict(report.counts),
        "indexes": {label: list(keys) for label, keys in report.indexes.items()},
        "text_indexes": {label: list(keys) for label, keys in report.text_indexes.items()},
        "embed": dict(report.embed),
        "skills": list(report.skills),
        "recipes": list(report.recipes),
        "ignored_keys": list(report.ignored_keys),
        "origin": report.origin,
        "parsed": report.parsed,
        "phases_ms": dict(report.phases_ms),
        "cache": report.cache,
        "problem_counts": severity_counts(report.problems),
        "problems": report.problems.select("path", "line", "code", "severity", "message").to_dicts(),
    }


def _declared(report: Report) -> Iterator[str]:
    """What configuration and guidance of the vault declare."""
    yield f"indexes: {_with_keys(report.indexes)} · text indexes: {_with_keys(report.text_indexes)}"
    yield f"skills: {_with_names(report.skills)} · recipes: {_with_names(report.recipes)}"
    yield f"embed targets: {', '.join(f'{label}.{key}' for label, key in report.embed.items()) or 'none'}"
    if report.ignored_keys:
        yield f"configured, without effect in this version: {', '.join(report.ignored_keys)}"


def _beside_notes(counts: Mapping[str, int]) -> str:
    """What is read beside the notes of the graph: "" or " (beside them 1 skipped by kg_skip, 1 canvas)"."""
    skipped, canvases = counts.get("skipped_notes", 0), counts.get("canvases", 0)
    parts = [f"{skipped:,} skipped by kg_skip"] if skipped else []
    parts += [counted(canvases, "canvas", "canvases")] if canvases else []
    return f" (beside them {', '.join(parts)})" if parts else ""


def _with_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"


def _with_keys(declared: Mapping[str, tuple[str, ...]]) -> str:
    return _with_names([f"{label}.{key}" for label, keys in declared.items() for key in keys])


def _with_names(names: tuple[str, ...] | list[str]) -> str:
    return f"{len(names):,} ({', '.join(names)})" if names else "0"
