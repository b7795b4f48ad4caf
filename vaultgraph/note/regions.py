"""Which lines are not scanned, and which bodies need the exact reader.

State runs over marker lines only (fences, comment, math and HTML openers), which are few; everything between them is
column work. Containers are not followed here: a body with a marker inside a list or quote, with indented code where a
list may be open or with reference definitions is left to `structure`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from vaultgraph.note.alone import TEXTS, made_of
from vaultgraph.note.lines import BoolArray, IntArray, Lines, above_of, at_rows, columns_of

_CLOSER: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_OPENER: Final = re.compile(r"`{3,}|~{3,}")
_ITEM: Final = re.compile(r"( *)((?:[-*+]|[0-9]{1,9}[.)]) {1,4})(?=[^ ])")
_MARKER: Final = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])([ \t]*)")
_NO_LIST: Final = 1 << 30
_NOT_PARAGRAPH: Final = ("blank", "heading", "rule", "underline", "fence", "percent", "dollar")
_OPENERS: Final = ("fence", "percent", "dollar", "html_comment", "html_block", "html_lone")
_CLOSED_BY: Final = {"percent": "%%", "dollar": "$$", "html_comment": "-->"}
_ENDS_LABEL: Final = TEXTS.str.contains("]:", literal=True)
_UNSURE: Final = (
    "underline", "percent", "dollar", "html_lone", "indented", "inner_heading", "inner_blank", "inner_rule",
    "inner_underline", "footnote",
)  # fmt: skip
"""Lines below which a paragraph may or may not go on."""


@dataclass(frozen=True, slots=True)
class Regions:
    """``opaque``: bool[lines], lines of code, HTML, comments and math (not meaningful in hard bodies).

    ``hard``: bool[bodies], bodies to be read by their exact block structure.
    """

    opaque: BoolArray
    hard: BoolArray


def find_regions(lines: Lines) -> Regions:
    """The regions of all bodies at the top level, and the bodies for which that is not enough."""
    flags = lines.flags
    nested = flags["margin"] | flags["container"]
    opaque, unsure = _opaque(lines, nested)
    opener = flags["html_verbatim"].copy()
    for name in _OPENERS:
        opener |= flags[name] & nested
    deep = flags["inner_code"] | flags["inner_quote"] | flags["deep_item"]
    hard_lines = (opener | flags["definition"] | near_open(lines, deep)) & ~opaque
    hard = np.zeros(len(lines.first) - 1, dtype=np.bool_)
    hard[lines.body[hard_lines]] = True
    hard[lines.body[unsure]] = True
    hard[_hard_labels(lines, opaque)] = True
    _judge_indented(lines, opaque, hard)
    return Regions(opaque, hard)


def _hard_labels(lines: Lines, opaque: BoolArray) -> IntArray:
    """Bodies in which the label of a reference definition may be wrapped over lines."""
    rows = np.flatnonzero(lines.flags["open_label"] & ~opaque)
    if not len(rows):
        return rows
    first, stop = _runs(lines, rows)
    sizes: IntArray = np.where(first == np.append(-1, first[:-1]), 0, stop - first)  # each run once
    asked: IntArray = np.repeat(stop - np.cumsum(sizes), sizes) + np.arange(np.sum(sizes))
    ends = asked[made_of(at_rows(lines.text, asked), _ENDS_LABEL).to_numpy()]
    return lines.body[rows[_has_any(ends, first, stop)]]


def _runs(lines: Lines, rows: IntArray) -> tuple[IntArray, IntArray]:
    """The run of lines between blank ones and ends of bodies that each of ``rows`` is in: its first row, and the one
    after its last."""
    bounds = lines.flags["blank"].copy()
    bounds[lines.first[:-1]] = True
    begins = np.flatnonzero(bounds)
    run = np.searchsorted(begins, rows, side="right")
    return begins[run - 1], np.append(begins, len(bounds))[run]


def _has_any(rows: IntArray, first: IntArray, stop: IntArray) -> BoolArray:
    """Whether any of ``rows``, ascending, is in each of the ranges."""
    return np.searchsorted(rows, first) < np.searchsorted(rows, stop)


def near_open(lines: Lines, flag: BoolArray) -> BoolArray:
    """``flag`` where anything among the lines up to the next blank ones may hold a link, a tag or a block id."""
    return near(lines, flag, lines.flags["open"])


def near(lines: Lines, flag: BoolArray, other: BoolArray) -> BoolArray:
    """``flag`` where ``other`` holds for any of the lines up to the next blank ones."""
    rows = np.flatnonzero(flag)
    if not len(rows):
        return flag
    is_near = np.zeros(len(flag), dtype=np.bool_)
    is_near[rows[_has_any(np.flatnonzero(other), *_runs(lines, rows))]] = True
    return is_near


def _judge_indented(lines: Lines, opaque: BoolArray, hard: BoolArray) -> None:
    """Marks indented code as opaque, and bodies where that depends on more than columns as hard."""
    doubtful = _doubtful(lines, opaque, hard)
    if not len(doubtful):
        return
    in_footnote = is_below(lines, lines.flags["footnote"] & ~opaque, doubtful)
    hard[lines.body[doubtful[in_footnote]]] = True
    doubtful = doubtful[~hard[lines.body[doubtful]]]
    code, unsure = _code_rows(lines, opaque, np.unique(lines.body[doubtful]))
    opaque[code] = True
    hard[lines.body[doubtful[~opaque[doubtful]]]] = True
    hard[unsure] = True


def is_below(lines: Lines, flag: BoolArray, rows: IntArray) -> BoolArray:
    """For each of ``rows``, whether ``flag`` holds for a line above it in its body."""
    at = np.flatnonzero(flag)
    if not len(at):
        return np.zeros(len(rows), dtype=np.bool_)
    above = np.searchsorted(at, rows) - 1
    return (above >= 0) & (lines.body[at[above]] == lines.body[rows])


def after_break(lines: Lines) -> BoolArray:
    """Lines with no paragraph text directly above, as far as the flags tell: the first of a body, or after a break."""
    above = np.zeros(len(lines.body), dtype=np.bool_)
    for name in _NOT_PARAGRAPH:
        above |= lines.flags[name]
    return above_of(lines, above, at_top=True)


def _opaque(lines: Lines, nested: BoolArray) -> tuple[BoolArray, list[int]]:
    """Lines of regions that begin at the top level; openers of which it is not sure that they are."""
    flags = lines.flags
    size = len(lines.body)
    kinds = np.zeros(size, dtype=np.int64)
    for code, name in reversed(list(enumerate(_OPENERS, start=1))):
        kinds[flags[name]] = code
    kinds[flags["html_verbatim"] | nested] = 0
    rows = np.flatnonzero(kinds)
    steps = np.zeros(size + 1, dtype=np.int32)
    doubtful: list[int] = []
    if not len(rows):
        return np.zeros(size, dtype=np.bool_), doubtful
    closers = _Closers(lines)
    free = above_of(lines, flags["blank"] | flags["heading"] | flags["rule"], at_top=True)[rows].tolist()
    above = np.logical_or.reduce([flags[name] for name in _UNSURE])
    unsure = above_of(lines, above)[rows].tolist()
    ends = lines.first[lines.body[rows] + 1].tolist()
    at = -1
    # row loop: regions depend on the one before; marker lines only
    codes: list[int] = kinds[rows].tolist()
    for row, code, is_free, is_unsure, body_end in zip(rows.tolist(), codes, free, unsure, ends, strict=True):
        if row < at:
            continue
        kind = _OPENERS[code - 1]
        if kind in {"percent", "html_lone"} and not is_free and row != at:
            if is_unsure:
                doubtful.append(row)
            continue
        end = closers.end_of(kind, row, body_end)
        if end > row:
            steps[row] += 1
            steps[end] -= 1
            at = end
    return np.cumsum(steps[:-1]) > 0, doubtful


class _Closers:
    """Where regions end; the sorted rows of each closer are found when first asked for."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._rows: dict[str, list[int]] = {}
        fences = np.flatnonzero(lines.flags["fence"])
        self._fences: list[int] = fences.tolist()
        self._fence_texts: list[str] = at_rows(lines.text, fences).to_list()

    def end_of(self, kind: str, row: int, body_end: int) -> int:
        """The row after the region opened at ``row``; ``row`` itself where it turns out not to be one."""
        if kind == "fence":
            return self._fence_end(row, body_end)
        if kind in {"html_block", "html_lone"}:
            return self._next("blank", row, body_end)
        found = self._next(kind, row if kind == "html_comment" else row + 1, body_end)
        if found < body_end:
            return found + 1
        return body_end if kind == "html_comment" else row

    def _fence_end(self, row: int, body_end: int) -> int:
        index = bisect_left(self._fences, row)
        opener = _OPENER.match(self._fence_texts[index])
        mark = opener.group() if opener is not None else "```"
        # row loop: fence lines up to the closer, which the caller then skips
        for number in range(index + 1, len(self._fences)):
            if self._fences[number] >= body_end:
                break
            closer = _CLOSER.fullmatch(self._fence_texts[number])
            if closer is not None and closer[1].startswith(mark):
                return self._fences[number] + 1
        return body_end

    def _next(self, kind: str, row: int, body_end: int) -> int:
        if kind not in self._rows:
            flag = self._lines.flags["blank"] if kind == "blank" else self._holding(_CLOSED_BY[kind])
            self._rows[kind] = np.flatnonzero(flag).tolist()
        rows = self._rows[kind]
        index = bisect_left(rows, row)
        return min(rows[index], body_end) if index < len(rows) else body_end

    def _holding(self, text: str) -> BoolArray:
        return made_of(self._lines.text, TEXTS.str.contains(text, literal=True)).to_numpy()


def _doubtful(lines: Lines, opaque: BoolArray, hard: BoolArray) -> IntArray:
    """First lines of what may be indented code and holds something that would be read, where a list may be open."""
    flags = lines.flags
    begins = after_break(lines)
    begins[1:] |= flags["quote"][:-1] | opaque[:-1]  # what a quote ends with is not known here
    starts = flags["indented"] & ~flags["blank"] & ~opaque & ~hard[lines.body] & begins
    rows = np.flatnonzero(starts)
    if not len(rows):
        return rows
    solid = np.flatnonzero(~flags["blank"])
    run_starts = np.flatnonzero(starts | (~flags["blank"] & begins))
    stops = np.append(run_starts, len(begins))[np.searchsorted(run_starts, rows) + 1]
    rows = rows[_has_any(np.flatnonzero(flags["open"]), rows, stops)]
    before = np.searchsorted(solid, rows) - 1
    above = np.where(before >= 0, solid[before], 0)
    is_first = (before < 0) | (lines.body[above] != lines.body[rows])
    texts, tops = at_rows(lines.text, rows).to_list(), at_rows(lines.text, above).to_list()
    # what looks like an item may be text of the lines above it
    sure = is_first | starts[above] | flags["rule"][above] | opaque[above]
    is_free = above_of(lines, flags["blank"] | flags["heading"] | flags["rule"] | opaque, at_top=True)[above]
    sure |= (flags["indented"] | flags["late_item"])[above] & ~is_free
    # row loop: stretches that may be indented code and hold a link or tag; few in any vault
    keep = [
        bool(is_sure) or not _continues_item(text, top) for text, top, is_sure in zip(texts, tops, sure, strict=True)
    ]
    return rows[np.array(keep, dtype=np.bool_)]


def _code_rows(lines: Lines, opaque: BoolArray, bodies: IntArray) -> tuple[IntArray, list[int]]:
    """Lines of ``bodies`` that are indented code whichever of the lists above them are open; bodies in which what
    follows such a line depends on the lists."""
    blank, body = lines.flags["blank"], lines.body
    after_blank = above_of(lines, blank, at_top=True)
    is_item = lines.flags["list_item"] & ~lines.flags["rule"]
    is_plain = ~(lines.flags["margin"] | is_item)  # ends lists at most, and each of a run of them the same
    is_asked = np.repeat(np.isin(np.arange(len(lines.first) - 1), bodies), np.diff(lines.first))
    rows = np.flatnonzero(is_asked & ~(blank | opaque))
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = body[rows[1:]] != body[rows[:-1]]
    begins = ~is_plain[rows]
    begins[1:] |= begins[:-1]
    starts = np.flatnonzero(begins | is_first)
    is_free = np.logical_or.reduceat(after_blank[rows], starts) if len(rows) else after_blank[:0]
    rows, is_first = rows[starts], is_first[starts]
    column, item = columns_of(lines, rows), is_item[rows]
    # what continues a line at the same column is what that line is
    begins = item | is_free | is_first
    begins[1:] |= item[:-1] | (column[1:] != column[:-1])
    starts = np.flatnonzero(begins)
    items: Iterator[str] = iter(at_rows(lines.text, rows[item]).to_list())
    is_code: list[bool] = []
    unsure: list[int] = []
    open_lists = _OpenLists()
    asked = zip(*(found[starts].tolist() for found in (rows, column, item, is_free, is_first)), strict=True)
    # row loop: bodies that may hold indented code with links, few in any vault
    for row, at, is_listed, free, is_top in asked:
        if is_top:
            open_lists = _OpenLists()
        is_code.append(open_lists.reads_code(at, next(items) if is_listed else None, free))
        if open_lists.is_unsure:
            unsure.append(row)
    counts = np.diff(np.append(starts, len(rows)))
    return rows[np.repeat(np.array(is_code, dtype=np.bool_), counts)], np.unique(body[unsure]).tolist()


class _OpenLists:
    """Which lists may be open, line by line: the least and the greatest column at which the text of an item begins."""

    def __init__(self) -> None:
        self._least, self._greatest = _NO_LIST, 0
        self._in_code: bool = False
        self.is_unsure: bool = False  # an indented line came directly below code of an item, which may have ended

    def reads_code(self, column: int, item: str | None, is_free: bool) -> bool:
        """Whether the next line, whose text begins at ``column``, is code for certain.

        ``item``: its text where it looks like an item of a list; ``is_free``: it follows a blank line, so continues no
        text.
        """
        was_code, is_free = self._in_code and not is_free, is_free or self._in_code
        if is_free and column < self._least:
            self._least, self._greatest = _NO_LIST, 0
        self._in_code = is_free and column >= self._greatest + 4
        self.is_unsure |= was_code and not self._in_code and column >= 4
        if item is not None and not self._in_code:
            self._open(item)
        return self._in_code

    def _open(self, text: str) -> None:
        marker = _MARKER.match(text)
        if marker is None or "\t" in marker.group():
            self._least, self._greatest = 0, _NO_LIST
            return
        self._least = min(self._least, marker.start(1) + 1)
        # row loop: markers of items inside each other that begin on one line
        while marker is not None:
            end, gap = marker.start(1), len(marker[1])
            self._greatest = max(self._greatest, end + (gap if 1 <= gap <= 4 else 1))
            marker = _MARKER.match(text, end + gap) if gap else None


def _continues_item(text: str, above: str) -> bool:
    """Whether an indented line after a gap is plainly the content of the list item above it, so no code."""
    item = _ITEM.match(above)
    if item is None or "\t" in text[: len(text) - len(text.lstrip())]:
        return False
    indent, content = len(text) - len(text.lstrip(" ")), item.end()
    return content <= indent < content + 4 or indent == len(item[1])
