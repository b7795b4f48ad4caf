"""Where the stretches of inline text begin, line by line, and where columns are not enough to tell.

Between `regions` and `segments`: a paragraph, a list item's text, a heading and a row of a table are a stretch each.
Lists and quotes are not followed as containers; a body with a line whose place in them decides something is left to
`structure`.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, selected
from vaultgraph.note.lines import MARKER, BoolArray, IntArray, Lines, above_of, at_rows, columns_of
from vaultgraph.note.regions import Regions, is_below, near, near_open

_DEEPER: int = 6  # an item this much further in than the one before may be text of that one
_INSIDE: int = 2  # an item this much further in may lie inside the one before
_MARKS: Final = (
    TEXTS.str.extract(rf"^([ \t]*{MARKER}[ \t]*)").str.len_bytes().fill_null(0).cast(pl.Int64).alias("marks")
)
_HAS_TAB: Final = TEXTS.str.contains(rf"^[ \t]*{MARKER}? *\t").alias("tab")


@dataclass(frozen=True, slots=True)
class Stretches:
    """``readable``: bool[lines], lines of inline text; ``starts``: bool[lines], those that begin a stretch;
    ``is_table``: bool[lines], rows of tables; ``underlines``: rows that make the stretch above a heading. False, and
    none, in hard bodies."""

    readable: BoolArray
    starts: BoolArray
    is_table: BoolArray
    underlines: IntArray


def find_stretches(lines: Lines, regions: Regions) -> Stretches:
    """The stretches of all bodies that are not hard; bodies with a doubtful line become hard in ``regions``."""
    flags = lines.flags
    regions.hard[lines.body[flags["deeper_quote"] & ~regions.opaque]] = True
    readable = ~(flags["blank"] | regions.opaque | flags["rule"] | flags["underline"] | regions.hard[lines.body])
    breaking = flags["container"] & (
        flags["inner_blank"] | flags["inner_heading"] | flags["inner_rule"] | flags["inner_underline"]
    )
    starts, is_table = _starts(lines, readable, breaking)
    underlines = _underlines(lines, regions, readable & ~is_table, starts)
    doubtful = _Doubts(lines, regions, starts, readable, breaking, underlines).rows()
    if not len(doubtful):
        return Stretches(readable, starts, is_table, underlines)
    regions.hard[lines.body[doubtful]] = True
    easy = ~regions.hard[lines.body]
    return Stretches(readable & easy, starts & easy, is_table & easy, underlines[easy[underlines]])


def _starts(lines: Lines, readable: BoolArray, breaking: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Readable lines that begin a stretch, and those that are rows of a table."""
    flags = lines.flags
    quote = flags["quote"]
    starts = above_of(lines, ~readable | flags["heading"] | flags["empty_item"] | breaking, at_top=True)
    starts |= flags["heading"] | flags["list_item"] | flags["footnote"] | breaking
    starts |= (quote & ~above_of(lines, quote)) | flags["quote_item"]
    starts |= flags["deep_quote"] & ~above_of(lines, flags["deep_quote"])
    starts &= readable
    starts[_numbers_in_text(lines, starts, readable, breaking)] = False
    is_table = np.zeros(len(readable), dtype=np.bool_)
    delimiters = np.flatnonzero(flags["delimiter_row"] & readable & ~starts)
    if len(delimiters):
        # every row of a table is its own: a code span never runs from one cell into another
        begins = np.flatnonzero(starts)
        stretch = np.unique(np.searchsorted(begins, delimiters, side="right"))
        steps = np.zeros(len(readable) + 1, dtype=np.int32)
        steps[np.append(0, begins)[stretch]] += 1
        steps[np.append(begins, len(readable))[stretch]] -= 1
        is_table = readable & (np.cumsum(steps[:-1]) > 0)
    return starts | is_table, is_table


def _below_text(lines: Lines, readable: BoolArray, breaking: BoolArray) -> BoolArray:
    """Readable lines directly below one that leaves a paragraph open."""
    return above_of(lines, readable & ~lines.flags["heading"] & ~breaking) & readable


def _numbers_in_text(lines: Lines, starts: BoolArray, readable: BoolArray, breaking: BoolArray) -> IntArray:
    """Rows of top-level paragraphs that look like list items, but only an item that is not empty and numbered 1, if at
    all, can interrupt a paragraph."""
    flags = lines.flags
    late = (flags["late_item"] | (flags["empty_item"] & ~flags["underline"])) & _below_text(lines, readable, breaking)
    rows = np.flatnonzero(late)
    if not len(rows):
        return rows
    top = _before(starts & ~late, rows)
    other = flags["margin"] | flags["container"] | flags["footnote"] | flags["heading"]
    return rows[~other[top] & (lines.body[top] == lines.body[rows])]


def _underlines(lines: Lines, regions: Regions, readable: BoolArray, starts: BoolArray) -> IntArray:
    """Rows that make the paragraph above a setext heading."""
    flags = lines.flags
    rows = np.flatnonzero(flags["underline"] & ~regions.opaque & ~regions.hard[lines.body])
    rows = rows[rows > 0]
    rows = rows[readable[rows - 1] & (lines.body[rows - 1] == lines.body[rows]) & ~flags["heading"][rows - 1]]
    begins = np.flatnonzero(starts)
    if not len(rows):
        return rows
    top = begins[np.searchsorted(begins, rows - 1, side="right") - 1]
    return rows[~(flags["list_item"] | flags["quote"] | flags["footnote"] | flags["indented"])[top]]


@dataclass(frozen=True, slots=True)
class _Doubts:
    """Looks for the lines whose reading depends on which lists and quotes are open around them."""

    lines: Lines
    regions: Regions
    starts: BoolArray
    readable: BoolArray
    breaking: BoolArray
    underlines: IntArray

    def rows(self) -> IntArray:
        flags = self.lines.flags
        is_doubtful = self._below_break() | self._headings() | flags["odd_footnote"]
        is_doubtful |= flags["quote_late_item"] & above_of(self.lines, flags["quote"] & ~flags["quote_item"])
        is_doubtful |= self._underlines() | self._quotes()
        is_doubtful &= ~(self.regions.opaque | self.regions.hard[self.lines.body])
        return np.union1d(np.flatnonzero(is_doubtful), self._items())

    def _below_break(self) -> BoolArray:
        """Text directly below a line of a list or quote that ends a paragraph: inside it or not?"""
        flags = self.lines.flags
        plain = ~(flags["blank"] | flags["list_item"] | flags["quote"] | flags["heading"] | flags["rule"])
        plain &= ~above_of(self.lines, flags["empty_item"])
        plain |= flags["indented"] & ~flags["blank"]
        return plain & above_of(self.lines, self.breaking)

    def _headings(self) -> BoolArray:
        """Headings with blank space before, which may be inside a list item or a footnote."""
        flags = self.lines.flags
        return self._in_list(flags["inner_heading"] & flags["margin"] & ~flags["container"])

    def _quotes(self) -> BoolArray:
        """Lines of a quote further in or out than the one above: below a list item they are another quote. Lines
        below a quote so far in that it may be code: are they its text?"""
        flags = self.lines.flags
        found = flags["quote"] & above_of(self.lines, flags["quote"])
        found &= flags["margin"] != above_of(self.lines, flags["margin"])
        below = above_of(self.lines, flags["quote"] & flags["indented"]) & self.readable & ~flags["indented"]
        return self._in_list(found) | near_open(self.lines, below)

    def _in_list(self, found: BoolArray) -> BoolArray:
        """``found`` where a list or a footnote may be open."""
        flags, rows = self.lines.flags, np.flatnonzero(found)
        if len(rows):
            # an empty item looks like an underline
            item = (flags["list_item"] | flags["footnote"]) & (self.readable | flags["empty_item"])
            found[rows] = is_below(self.lines, item, rows)
        return found

    def _underlines(self) -> BoolArray:
        """Lines of dashes or equal signs that are neither rule, item nor surely an underline."""
        flags = self.lines.flags
        found = flags["underline"] & ~flags["rule"] & ~flags["empty_item"]
        found[self.underlines] = False
        found |= flags["inner_underline"] & flags["container"] & ~flags["empty_item"] & ~flags["list_item"]
        rows = np.flatnonzero(flags["underline"] & above_of(self.lines, self.readable))
        if len(rows):
            top = _before(self.starts, rows)
            # indented code looks like text while nothing in it is read
            found[rows[flags["indented"][top]]] = True
            at = self.underlines
            loose = np.zeros_like(found)
            loose[at] = flags["margin"][at] | flags["margin"][_before(self.starts, at)]
            found |= self._in_list(loose)
        return found

    def _items(self) -> IntArray:
        """Markers below text that may be text themselves."""
        flags = self.lines.flags
        below_text = _below_text(self.lines, self.readable, self.breaking) & ~self.regions.opaque & self.starts
        deep = below_text & flags["indented"] & (flags["list_item"] | flags["quote"] | flags["footnote"])
        again = below_text & flags["quote"] & ~above_of(self.lines, flags["quote"])
        late = below_text & (flags["late_item"] | flags["empty_item"])
        end = flags["open"] | flags["underline"]  # of what matters where stretches begin and end
        in_text = np.flatnonzero(near(self.lines, flags["empty_item"] & self.readable & ~self.starts, end))
        rows = np.flatnonzero(near(self.lines, deep | late | again, end))
        if not len(rows):
            return in_text
        item = flags["list_item"]
        column = columns_of(self.lines, rows)
        outer = _before(self.starts & ~flags["indented"], rows)
        nearest = _before(self.starts, rows)
        marked = _before(self.starts & item, rows)
        inwards = column - columns_of(self.lines, marked)
        is_outer_item = item[outer] & (self.lines.body[outer] == self.lines.body[rows])
        is_near_item = item[nearest] & (self.lines.body[nearest] == self.lines.body[rows])
        is_deep = deep[rows] & ~(is_outer_item & (inwards < _DEEPER) & item[rows])
        sure = np.flatnonzero(deep[rows] & ~is_deep)
        for above in (outer, marked):
            is_deep[sure] |= self._is_beside(above[sure], column[sure])
        is_near_item &= is_outer_item | ~flags["indented"][nearest]
        is_late = late[rows] & ~(is_near_item & (inwards < _INSIDE))
        return np.union1d(in_text, rows[is_deep | is_late | (again[rows] & flags["quote"][nearest])])

    def _is_beside(self, items: IntArray, column: IntArray) -> BoolArray:
        """Where a ``column`` lies between the marker of an item and its text: no list may begin there."""
        marks = selected(at_rows(self.lines.text, items).to_frame("text"), [_MARKS, _HAS_TAB])
        size = marks["marks"].to_numpy()
        text = np.where(marks["tab"].to_numpy(), np.where(self.lines.flags["margin"][items], 8, 4), size)
        return (columns_of(self.lines, items) < column) & (column < text)


def _before(flag: BoolArray, rows: IntArray) -> IntArray:
    """The nearest row above each of ``rows`` with ``flag``; 0 where there is none."""
    at = np.flatnonzero(flag)
    if not len(at):
        return np.zeros_like(rows)
    return at[np.maximum(np.searchsorted(at, rows) - 1, 0)]
