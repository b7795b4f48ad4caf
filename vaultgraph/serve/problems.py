"""The problems of a vault as text: counts by severity, and a line each, grouped where a code has many.

Shared by `rebuild_graph`, `graph_overview(problems: true)` and the command line's `check`.
"""

from collections.abc import Iterator
from typing import Final

import polars as pl

from vaultgraph.serve.cells import counted, one_line

SEVERITIES: Final = ("error", "warning", "info")
BY_TARGET: Final = ("unresolved-link", "missing-attachment")
"""Codes whose problems are grouped by what the links ask for: their messages name it between quotation marks."""
GROUP_FROM: Final = 20  # more problems of one code than this are grouped
GROUP_SHOWN: Final = 5
TARGETS_SHOWN: Final = 10
PLACES_SHOWN: Final = 3
ALL_OF_THEM: Final = (
    "All of a code: CALL vault.problems() YIELD path, line, code, message WHERE code = '{}' RETURN path, line, message;"
    " everything: vaultgraph check DIR --json"
)


def severity_counts(problems: pl.DataFrame) -> dict[str, int]:
    """How many problems of each severity there are, in the order of SEVERITIES; zeros included."""
    found = dict(problems["severity"].value_counts().iter_rows())
    return {severity: int(found.get(severity, 0)) for severity in SEVERITIES}


def problem_summary(problems: pl.DataFrame) -> str:
    """ "2 errors, 14 warnings, 3 infos", or "none"."""
    counts = [counted(count, name) for name, count in severity_counts(problems).items() if count]
    return ", ".join(counts) or "none"


def problem_lines(problems: pl.DataFrame) -> Iterator[str]:
    """Problems by severity, `path:line code message` each.

    A code with more than GROUP_FROM is grouped: its count, then a few; the last line then says how to see all.
    """
    grouped: str | None = None
    for severity in SEVERITIES:
        chosen = problems.filter(pl.col("severity") == severity)
        if chosen.height:
            yield f"{severity}s ({chosen.height:,}):"
        for (code,), rows in chosen.group_by(["code"], maintain_order=True):
            if rows.height <= GROUP_FROM:
                yield from _listed(rows, f" {code}")
                continue
            grouped = grouped or str(code)
            yield from _by_target(rows, str(code)) if code in BY_TARGET else _first(rows, str(code))
    if grouped:
        yield one_line(ALL_OF_THEM.format(grouped))


def _listed(problems: pl.DataFrame, code: str = "", indent: str = "  ") -> Iterator[str]:
    lines = problems.group_by("path", "line", "message", maintain_order=True).agg(times=pl.len())
    for path, line, message, times in lines.iter_rows():
        yield one_line(f"{indent}{_place(path, line)}{code} {message}" + (f" ×{times:,}" if times > 1 else ""))


def _first(problems: pl.DataFrame, code: str) -> Iterator[str]:
    yield f"  {code} × {problems.height:,}, the first {GROUP_SHOWN}:"
    yield from _listed(problems.head(GROUP_SHOWN), indent="    ")


def _by_target(problems: pl.DataFrame, code: str) -> Iterator[str]:
    """What is asked for most, with the first places that do: "target: n links, from path:line, …"."""
    targets = problems.group_by("message", maintain_order=True).agg(
        links=pl.len(), paths=pl.col("path").head(PLACES_SHOWN), lines=pl.col("line").head(PLACES_SHOWN)
    )
    most = targets.sort("links", descending=True, maintain_order=True).head(TARGETS_SHOWN)
    most = most.with_columns(target=pl.col("message").str.extract("(?s)'(.*)'").fill_null(pl.col("message")))
    shown = f", the {most.height} most asked for of {targets.height:,}" if targets.height > most.height else ""
    yield f"  {code} × {problems.height:,}, by target{shown}:"
    for target, links, paths, lines in most.select("target", "links", "paths", "lines").iter_rows():
        places = ", ".join(_place(path, line) for path, line in zip(paths, lines, strict=True))
        more = ", …" if links > len(paths) else ""
        yield one_line(f"    {target}: {counted(links, 'link')}, from {places}{more}")


def _place(path: str, line: int | None) -> str:
    return path if line is None else f"{path}:{line}"
