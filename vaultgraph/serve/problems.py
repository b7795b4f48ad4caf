"""The problems of a vault and the report of a build, as text.

Shared by `rebuild_graph`, `graph_overview(problems: true)` and the command line's `check`; reads a Report only.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from vaultgraph.serve.cells import counted, one_line
from vaultgraph.vault.snapshot import Report

SEVERITIES: Final = ("error", "warning", "info")
ALWAYS_COUNTED: Final = ("links", "dangling_links", "missing_attachments", "ambiguous_attachments")
NOT_LISTED: Final = (*ALWAYS_COUNTED, "skipped_notes", "canvases")
GROUP_FROM: Final = 20  # more problems of one code than this are grouped
GROUP_SHOWN: Final = 5


def severity_counts(problems: pl.DataFrame) -> dict[str, int]:
    """How many problems of each severity there are, in the order of SEVERITIES; zeros included."""
    found = dict(problems["severity"].value_counts().iter_rows())
    return {severity: int(found.get(severity, 0)) for severity in SEVERITIES}


def problem_summary(problems: pl.DataFrame) -> str:
    """ "2 errors, 14 warnings, 3 infos", or "none"."""
    counts = [counted(count, name) for name, count in severity_counts(problems).items() if count]
    return ", ".join(counts) or "none"


def problem_lines(problems: pl.DataFrame) -> Iterator[str]:
    """Problems by severity, a line each; a code with many is grouped: its count, then the first few."""
    for severity in SEVERITIES:
        chosen = problems.filter(pl.col("severity") == severity)
        if chosen.height:
            yield f"{severity}s ({chosen.height:,}):"
            yield from _of_severity(chosen)


def report_text(report: Report) -> str:
    """Everything a build found: files, notes, nodes, relationships, links, what else there is any of, problems."""
    lines = [
        f"files scanned: {report.files:,}",
        f"notes: {report.notes:,}{_beside_notes(report.counts)}",
        f"nodes: {report.nodes:,} ({_with_counts(report.labels)})",
        f"relationships: {report.relationships:,} ({_with_counts(report.types)})",
    ]
    others = sorted(name for name, count in report.counts.items() if count and name not in NOT_LISTED)
    lines += [f"{name.replace('_', ' ')}: {report.counts.get(name, 0):,}" for name in (*ALWAYS_COUNTED, *others)]
    spent = " · ".join(f"{name} {ms:.0f} ms" for name, ms in report.phases_ms.items() if ms >= 1)
    origin = {"built": "built from the notes", "cache": "opened from the cache", "refreshed": "refreshed"}
    lines.append(f"{origin[report.origin]}, {counted(report.parsed, 'file')} parsed{': ' + spent if spent else ''}")
    if report.cache:
        lines.append(f"cache: {report.cache}")
    lines.append(f"problems: {problem_summary(report.problems)}")
    return "\n".join([*lines, *problem_lines(report.problems)])


def _of_severity(problems: pl.DataFrame) -> Iterator[str]:
    for (code,), chosen in problems.group_by(["code"], maintain_order=True):
        is_grouped = chosen.height > GROUP_FROM
        if is_grouped:
            yield f"  {code} × {chosen.height:,}, the first {GROUP_SHOWN}:"
        lines = chosen.group_by("path", "line", "message", maintain_order=True).agg(times=pl.len())
        for path, line, message, times in lines.head(GROUP_SHOWN if is_grouped else GROUP_FROM).iter_rows():
            place = path if line is None else f"{path}:{line}"
            text = f"    {place} {message}" if is_grouped else f"  {place} {code} {message}"
            yield one_line(text if times == 1 else f"{text} ×{times:,}")


def _beside_notes(counts: Mapping[str, int]) -> str:
    """What is read beside the notes of the graph: "" or " (beside them 1 skipped by kg_skip, 1 canvas)"."""
    skipped, canvases = counts.get("skipped_notes", 0), counts.get("canvases", 0)
    parts = [f"{skipped:,} skipped by kg_skip"] if skipped else []
    parts += [counted(canvases, "canvas", "canvases")] if canvases else []
    return f" (beside them {', '.join(parts)})" if parts else ""


def _with_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"
