"""The problems of a vault and the report of a build, as text.

Shared by `rebuild_graph`, `graph_overview(problems: true)` and the command line's `check`; reads a Report only.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from vaultgraph.serve.cells import one_line
from vaultgraph.vault.snapshot import Report

SEVERITIES: Final = ("error", "warning", "info")
ALWAYS_COUNTED: Final = ("links", "dangling_links", "missing_attachments", "ambiguous_attachments")
GROUP_FROM: Final = 20  # more problems of one code than this are grouped
GROUP_SHOWN: Final = 5


def severity_counts(problems: pl.DataFrame) -> dict[str, int]:
    """How many problems of each severity there are, in the order of SEVERITIES; zeros included."""
    found = dict(problems["severity"].value_counts().iter_rows())
    return {severity: int(found.get(severity, 0)) for severity in SEVERITIES}


def problem_summary(problems: pl.DataFrame) -> str:
    """ "2 errors, 14 warnings, 3 infos", or "none"."""
    counts = [
        f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in severity_counts(problems).items() if count
    ]
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
        f"notes: {report.notes:,}",
        f"nodes: {report.nodes:,} ({_counted(report.labels)})",
        f"relationships: {report.relationships:,} ({_counted(report.types)})",
    ]
    others = sorted(name for name, count in report.counts.items() if count and name not in ALWAYS_COUNTED)
    lines += [f"{name.replace('_', ' ')}: {report.counts.get(name, 0):,}" for name in (*ALWAYS_COUNTED, *others)]
    spent = " · ".join(f"{name} {ms:.0f} ms" for name, ms in report.phases_ms.items() if ms >= 1)
    origin = {"built": "built from the notes", "cache": "opened from the cache", "refreshed": "refreshed"}
    lines.append(f"{origin[report.origin]}, {report.parsed:,} notes parsed{': ' + spent if spent else ''}")
    if report.cache:
        lines.append(f"cache: {report.cache}")
    lines.append(f"problems: {problem_summary(report.problems)}")
    return "\n".join([*lines, *problem_lines(report.problems)])


def _of_severity(problems: pl.DataFrame) -> Iterator[str]:
    for (code,), chosen in problems.group_by(["code"], maintain_order=True):
        is_grouped = chosen.height > GROUP_FROM
        if is_grouped:
            yield f"  {code} × {chosen.height:,}, the first {GROUP_SHOWN}:"
        for path, line, message in (
            chosen.head(GROUP_SHOWN if is_grouped else GROUP_FROM).select("path", "line", "message").iter_rows()
        ):
            place = path if line is None else f"{path}:{line}"
            yield one_line(f"    {place} {message}" if is_grouped else f"  {place} {code} {message}")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "none"
