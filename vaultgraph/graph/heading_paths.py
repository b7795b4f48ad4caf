"""Heading paths: the titles of the headings that stand around each heading, and around each part of a note.

From the levels alone, as whole columns. Used for ids people read, for templates and for anchors; resolving an anchor is
derived_anchors.py's.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Ids
from vaultgraph.note.records import PieceKind, RecordTable

DEEPEST: Final = 6
MOST_TITLE: Final = 200  # characters of a heading in a path, which everything below repeats


def paths_by_level(notes: Ids, levels: Ids, titles: pl.Series) -> pl.Series:
    """The path of each heading, List(String), its own title last; headings are in order, ``notes`` ascending.

    A title in a path ends after MOST_TITLE characters.
    """
    count = len(notes)
    titles = titles.str.slice(0, MOST_TITLE)
    rows = np.arange(count)
    first = np.searchsorted(notes, notes, side="left")
    levels = np.clip(levels, 1, DEEPEST)
    newest = np.full(count, -1, dtype=np.int64)  # the last heading of a level above the one looked at
    parts: list[pl.Series] = []
    for level in range(1, DEEPEST):  # row loop: one step a level of headings
        last = np.maximum.accumulate(np.where(levels == level, rows, -1)) if count else rows
        last = np.where(last >= first, last, -1)
        is_around = (last > newest) & (level < levels)
        at = pl.Series(np.where(is_around, last, count))
        parts.append(titles.extend_constant(None, 1).gather(at).alias(f"h{level}"))
        newest = np.maximum(newest, last)
    return pl.DataFrame([*parts, titles.alias("own")]).select(pl.concat_list(pl.all()).list.drop_nulls())["h1"]


def paths_of_pieces(records: RecordTable, starts: Ids) -> pl.Series:
    """The headings around each piece of the records, List(String): by their sections, else by the lines of headings.

    ``starts``: the first piece of each note. A section's own title is the last of its path.
    """
    pieces = records.pieces
    notes = pieces["note"].to_numpy()
    is_section = (pieces["kind"] == PieceKind.SECTION).to_numpy()
    if is_section.any():
        chosen = pieces.filter(pl.Series(is_section))
        levels = chosen["level"].fill_null(1).to_numpy().astype(np.int64)
        paths = paths_by_level(notes[is_section], levels, chosen["title"].fill_null(""))
        around = pieces["section"].to_numpy().astype(np.int64)
        own = np.where(is_section, np.arange(pieces.height), np.where(around >= 0, around + starts[notes], -1))
        row_of = np.append(np.where(is_section, np.cumsum(is_section) - 1, -1), -1)
        at = row_of[own]
    else:
        headings = records.headings
        levels = headings["level"].to_numpy().astype(np.int64)
        owners = headings["note"].to_numpy()
        paths = paths_by_level(owners, levels, headings["text"])
        at = _latest(owners, headings["line"].fill_null(0).to_numpy(), notes, pieces["line"].to_numpy())
    none = pl.Series([[]], dtype=pl.List(pl.String))
    return pl.concat([paths.alias(""), none.alias("")]).gather(pl.Series(np.where(at >= 0, at, len(paths))))


def _latest(owners: Ids, lines: Ids, notes: Ids, asked: Ids) -> Ids:
    """The last heading of the note at or above each asked line, -1 for none; headings are in order."""
    known = (owners.astype(np.int64) << 32) + lines
    at = np.searchsorted(known, (notes.astype(np.int64) << 32) + asked, side="right") - 1
    if not len(known):
        return np.full(len(notes), -1, dtype=np.int64)
    return np.where((at >= 0) & (owners[at] == notes), at, -1)
