"""Print figures as text: one line a figure, the median of each side, and the ratio of the medians."""

import math
import statistics
from collections.abc import Iterator

from measures import Figures


def summarise(figures: Figures) -> dict[str, dict[str, dict[str, object]]]:
    """Figure → side → median, least, most and the repetitions (rounded), or the reason of a failure; JSON-ready."""
    summary: dict[str, dict[str, dict[str, object]]] = {}
    for name, sides in figures.values.items():
        for side, values in sides.items():
            summary.setdefault(name, {})[side] = {
                "median": round(statistics.median(values), 3),
                "least": round(min(values), 3),
                "most": round(max(values), 3),
                "runs": [round(value, 3) for value in values],
            }
    for name, sides in figures.failures.items():
        for side, reason in sides.items():
            summary.setdefault(name, {}).setdefault(side, {})["failed"] = reason
    return summary


def table(title: str, summary: dict[str, dict[str, dict[str, object]]], sides: list[str]) -> str:
    """The readable form of a summary."""
    return "\n".join([title, "", *_lines(summary, sides), ""])


def _lines(summary: dict[str, dict[str, dict[str, object]]], sides: list[str]) -> Iterator[str]:
    width = max([len(name) for name in summary] + [10])
    yield f"{'median of the runs':<{width}}" + "".join(f"{side:>14}" for side in sides) + f"{'ratio':>9}"
    notes: list[str] = []
    for name, by_side in summary.items():
        cells = [by_side.get(side, {}) for side in sides]
        shown = "".join(f"{_shown(cell):>14}" for cell in cells)
        yield f"{name:<{width}}{shown}{_ratio(cells):>9}"
        notes += [
            f"  {name}, {side}: {cell['failed']}" for side, cell in zip(sides, cells, strict=True) if "failed" in cell
        ]
    if notes:
        yield ""
        yield "failed:"
        yield from notes


def _shown(cell: dict[str, object]) -> str:
    median = cell.get("median")
    if not isinstance(median, int | float):
        return "FAILED" if "failed" in cell else "–"
    if math.isnan(median):
        return "–"
    mark = "*" if "failed" in cell else ""  # some repetitions failed
    return mark + (f"{median:,.0f}" if abs(median) >= 100 else f"{median:.3g}")


def _ratio(cells: list[dict[str, object]]) -> str:
    medians = [cell.get("median") for cell in cells]
    match medians:
        case [int() | float() as ours, int() | float() as theirs] if theirs and not math.isnan(ours / theirs):
            return f"{ours / theirs:.2f}"
        case _:
            return "–"
