"""Hard bodies cut where nothing can be open, so that only the doubtful parts need the exact reader.

Between `stretches` and `segments`. Below an empty line, text at the first column ends every list, quote and footnote:
what follows is read as if it were a note of its own. Whether a code block, a comment or HTML is still open there is
known from the regions, and the exact reader shows it for each part that it reads.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from vaultgraph.note.lines import BoolArray, IntArray, Lines, above_of, at_rows
from vaultgraph.note.regions import Regions, find_regions
from vaultgraph.note.stretches import Stretches, find_stretches
from vaultgraph.note.structure import Structure, TextBlock, structures_of

_FEW_LINES: Final = 80  # a shorter body is read as a whole, which takes less than to look for cuts
_LOOKING_AHEAD: Final = ("percent", "dollar")  # blocks only where they end, which may be beyond a cut
_NEXT: Final = "x"  # stands for the text below a part


@dataclass(frozen=True, slots=True)
class Exact:
    """What the exact reader finds in the lines of ``body`` from ``row`` of the batch on."""

    row: int
    body: int
    structure: Structure


def read_hard(lines: Lines, regions: Regions, stretches: Stretches) -> tuple[Stretches, list[Exact]]:
    """The stretches with those of the parts of hard bodies that can be told by columns; what the exact reader finds in
    the others, in no order."""
    whole = regions.hard.copy()
    long = np.flatnonzero(regions.hard & (np.diff(lines.first) >= _FEW_LINES))
    exact: list[Exact] = []
    if len(long):
        rows, parts, owner = _cut(lines, regions.opaque, long)
        inner = find_regions(parts)
        found = find_stretches(parts, inner)
        exact, failed = _read_parts(parts, inner.hard, rows, owner)
        whole[long] = np.isin(long, failed)
        exact = [part for part in exact if not whole[part.body]]
        stretches = _joined(stretches, found, rows, ~whole[lines.body[rows]])
    bodies = np.flatnonzero(whole)
    structures = structures_of([_text(lines, int(lines.first[body]), int(lines.first[body + 1])) for body in bodies])
    exact += [
        Exact(int(lines.first[body]), int(body), structure) for body, structure in zip(bodies, structures, strict=True)
    ]
    return stretches, exact


def _cut(lines: Lines, opaque: BoolArray, bodies: IntArray) -> tuple[IntArray, Lines, IntArray]:
    """The rows of ``bodies``, the same lines with the parts of the bodies in place of bodies, the body of each part."""
    flags = lines.flags
    counts = lines.first[bodies + 1] - lines.first[bodies]
    before: IntArray = np.cumsum(counts) - counts
    rows: IntArray = np.repeat(lines.first[bodies] - before, counts) + np.arange(np.sum(counts))
    is_text = ~(flags["blank"] | flags["margin"] | flags["container"] | flags["footnote"] | opaque)
    begins = (is_text & above_of(lines, flags["blank"]))[rows]
    begins[before] = True
    first = np.flatnonzero(begins)
    parts = Lines(
        text=at_rows(lines.text, rows),
        body=np.cumsum(begins) - 1,
        first=np.append(first, len(rows)),
        flags={name: flag[rows] for name, flag in flags.items()},
    )
    return rows, parts, lines.body[rows[first]]


def _read_parts(parts: Lines, hard: BoolArray, rows: IntArray, owner: IntArray) -> tuple[list[Exact], list[int]]:
    """What the exact reader finds in the ``hard`` parts; the bodies that one of them does not leave as it
    found them: open beyond its end, or with reference definitions."""
    ahead = np.logical_or.reduce([parts.flags[name] for name in _LOOKING_AHEAD])
    failed: list[int] = owner[np.unique(parts.body[ahead & hard[parts.body]])].tolist()
    numbers = np.flatnonzero(hard & ~np.isin(owner, failed))
    bounds = [(int(parts.first[part]), int(parts.first[part + 1])) for part in numbers]
    structures = structures_of([f"{_text(parts, first, stop)}\n{_NEXT}" for first, stop in bounds])
    exact: list[Exact] = []
    # row loop: parts of the few bodies that are hard and long
    for part, (first, stop), structure in zip(numbers.tolist(), bounds, structures, strict=True):
        below = TextBlock(stop - first, stop - first + 1, _NEXT, 0)
        is_closed = structure.blocks[-1:] == [below]
        if is_closed and not structure.references:  # of which any line of the body may make use
            exact.append(Exact(int(rows[first]), int(owner[part]), Structure(structure.blocks[:-1], {})))
        else:
            failed.append(int(owner[part]))
    return exact, failed


def _joined(all_of: Stretches, found: Stretches, rows: IntArray, chosen: BoolArray) -> Stretches:
    """``all_of`` with what was found in the ``chosen`` ones of ``rows``."""
    kept = rows[chosen]
    readable, starts, is_table = all_of.readable.copy(), all_of.starts.copy(), all_of.is_table.copy()
    readable[kept], starts[kept] = found.readable[chosen], found.starts[chosen]
    is_table[kept] = found.is_table[chosen]
    underlines = rows[found.underlines[chosen[found.underlines]]]
    return Stretches(readable, starts, is_table, np.sort(np.concatenate([all_of.underlines, underlines])))


def _text(lines: Lines, first: int, stop: int) -> str:
    return "\n".join(lines.text[first:stop].to_list())
