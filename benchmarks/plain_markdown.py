"""The oracle of reading: which lines of a body hold text, by markdown-it-py alone.

A body in which none of our own block kinds can occur is judged by the plain CommonMark parser; every other one by the
product's block parser, which adds them. What is made of the parser's tokens is written here a second time, on purpose.
Used by the checks of regions and by tests.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import polars as pl
from markdown_it import MarkdownIt

from vaultgraph.note.inline import References, scan_inline
from vaultgraph.note.lines import IntArray
from vaultgraph.note.segments import find_segments
from vaultgraph.note.structure import MOST_NESTING, block_parser
from vaultgraph.note.tokens import find_tokens

DIFFERENCES: Final = (
    "`%%` at the start of a line, not directly below a paragraph, opens a block up to the next `%%`; without one, none",
    "`$$` at the start of a line opens a block up to the next `$$`; it may interrupt a paragraph; without one, none",
    "an inline `%% … %%` is text: what is in it counts",
    "`[^name]:` begins a footnote, which may interrupt a paragraph and is no reference definition",
    "lines indented by a column of 4 or more below a footnote's first line are its content, not code",
    "a heading counts at the top level only, not in a list, a quote or a footnote; its text is text everywhere",
    "a paragraph with a delimiter row below its first is a table: each row is a stretch of text of its own",
    "what would make a table a heading is a rule below it; a tag may begin a cell",
    "lines end with LF alone (CR and CRLF are LF before), NUL stays, and a form feed or a no-break space is no margin",
    f"what lies inside more than {MOST_NESTING} containers is not read",
)
"""All that differs from CommonMark on purpose."""

_OWN: Final = re.compile(r"%%|\$\$|\[\^")
_CELL: Final = r"[ \t]*:?-+:?[ \t]*"
_TABLE_RULE: Final = re.compile(rf"[ \t]*(?:\|{_CELL}(?:\|{_CELL})*\|?|{_CELL}(?:\|{_CELL})+\|?)[ \t]*")


@dataclass(frozen=True)
class Judged:
    """``stretches``: inline text as (first line, line after, text); ``headings``: (line, level, text)."""

    stretches: list[tuple[int, int, str]]
    headings: list[tuple[int, int, str]]
    references: References

    @property
    def lines(self) -> set[int]:
        """The lines, from 0, that hold text."""
        return {line for first, stop, _ in self.stretches for line in range(first, stop)}

    @property
    def tokens(self) -> list[tuple[object, ...]]:
        """Links and tags: line, kind, is_embed, name, text, title."""
        return [
            (first + token.line, *token[1:])
            for first, _, text in self.stretches
            for token in scan_inline(text, self.references)
        ]


class PlainMarkdown:
    """Judges bodies; keeps the two parsers."""

    def __init__(self) -> None:
        self._plain = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING})
        self._plain.core.ruler.enableOnly(["block"])
        self._own = block_parser()

    def judge(self, body: str) -> Judged:
        """The text of ``body``, whose line ends are LF."""
        found: dict[str, Any] = {}
        tokens = (self._own if _OWN.search(body) else self._plain).parse(body + "\n", found)
        stretches: list[tuple[int, int, str]] = []
        headings: list[tuple[int, int, str]] = []
        for number, token in enumerate(tokens):
            if token.type != "inline" or token.map is None:
                continue
            start, stop = token.map
            rows = token.content.split("\n")
            if len(rows) < stop - start:  # the parser drops lines of form feeds at the ends of a paragraph
                source = body.split("\n")
                start = next(line for line in range(start, stop) if rows[0] in source[line])
            opener = tokens[number - 1]
            has_rule = any(_TABLE_RULE.fullmatch(row) for row in rows[1:])
            if opener.type == "heading_open" and not has_rule:
                if opener.level == 0:
                    headings.append((start, int(opener.tag[1]), re.sub(r"[ \t]*\n[ \t]*", " ", token.content)))
                stretches.append((start, stop, token.content))
            elif has_rule:
                # a tag may begin a cell
                cells = (re.sub(r"(?<!\\)\|#", "| #", row) for row in rows)
                stretches += [(start + at, start + at + 1, row) for at, row in enumerate(cells)]
            else:
                stretches.append((start, stop, token.content))
        references = {
            label: (unquote(entry["href"], errors="replace"), entry.get("title") or "")
            for label, entry in found.get("references", {}).items()
        }
        return Judged(stretches, headings, references)


TOKEN_COLUMNS: Final = ("line", "kind", "is_embed", "name", "text", "title")
_MARKS: Final = r"^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t][ \t>]*|$))*"
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")


def block_ids(body: str, judged: Judged) -> list[tuple[int, str]]:
    """Block ids at the ends of lines of text."""
    lines = body.split("\n")
    found = ((number, _BLOCK_ID.search(lines[number])) for number in sorted(judged.lines))
    return [(number, match[1]) for number, match in found if match is not None]


def bears_text(lines: pl.Series) -> pl.Series:
    """Which lines hold more than markers of containers, rules and underlines; the others are not judged."""
    return lines.str.replace(_MARKS, "").str.contains(r"[^\s*_=#-]")


@dataclass(frozen=True)
class Difference:
    """One way in which reading a body differs from the oracle: ``what`` is tokens, headings, block ids or lines."""

    body: int
    what: str
    found: object
    expected: object


def differences(bodies: Sequence[str], oracle: PlainMarkdown, *, every_line: bool = False) -> list[Difference]:
    """Reads ``bodies`` as one batch and judges each on its own; what is not equal.

    Lines that hold text are compared where they may hold a link, a tag or a block id; with ``every_line`` wherever
    they bear text.
    """
    lines, segments = find_segments(bodies, every_line=every_line)
    first = lines.first.tolist()
    tokens = _by_body(lines.body, find_tokens(segments).select(TOKEN_COLUMNS), first)
    headings = _by_body(lines.body, segments.headings.select("row", "level", "text"), first)
    blocks = _by_body(lines.body, segments.blocks.select("row", "id"), first)
    asked = lines.flags["open"] & bears_text(lines.text).to_numpy()
    readable = segments.readable
    found: list[Difference] = []
    for number, body in enumerate(bodies):
        judged = oracle.judge(body)
        rows = slice(first[number], first[number + 1])
        text = set(np.flatnonzero(readable[rows] & asked[rows]).tolist())
        pairs = {
            "tokens": (tokens.get(number, []), judged.tokens),
            "headings": (headings.get(number, []), sorted(judged.headings)),
            "block ids": (blocks.get(number, []), block_ids(body, judged)),
            "lines": (text, {line for line in judged.lines if asked[rows][line]}),
        }
        found += [Difference(number, what, ours, theirs) for what, (ours, theirs) in pairs.items() if ours != theirs]
    return found


def _by_body(body_of: IntArray, frame: pl.DataFrame, first: Sequence[int]) -> dict[int, list[tuple[object, ...]]]:
    """The rows of ``frame`` by body, their first column (a row of the batch) counted from the body's start."""
    found: dict[int, list[tuple[object, ...]]] = {}
    for row, *rest in frame.iter_rows():
        number = int(body_of[row])
        found.setdefault(number, []).append((row - first[number], *rest))
    return found
