"""The blocks of one body as the readers of pieces see them: source lines, containers and block ids.

A piece inside quotes and lists has their marks in front of its lines; `Container` takes them off. Block structure
itself is markdown-it's; nothing is parsed here.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it.token import Token

_BLANKS: Final = " \t"  # what a line of Markdown may hold and be blank
_BLOCK_ID: Final = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*\Z")
_QUOTE_MARK: Final = re.compile(r"[ \t]*>[ \t]?")
_ITEM_MARK: Final = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])")
_FOOTNOTE_MARK: Final = re.compile(r"[ \t]*\[\^[^\]\[]+\]:[ \t]*")
_OPENERS: Final = frozenset(("blockquote_open", "list_item_open", "footnote_open"))
_CLOSERS: Final = frozenset(("blockquote_close", "list_item_close", "footnote_close"))


class Container:
    """A quote, list item or footnote (``kind``: the type of its token) from line ``start`` to before ``end`` of the
    body, inside ``outer``."""

    def __init__(self, kind: str, start: int, end: int, outer: "Container | Sequence[str]") -> None:
        self.kind, self.start, self.end = kind, start, end
        self._outer = outer
        self._lines: list[str] | None = None

    def lines(self) -> list[str]:
        """Its lines without its own marks and those around it, worked out when first asked for."""
        if self._lines is None:
            outer = self._outer
            if isinstance(outer, Container):
                around = outer.lines()[self.start - outer.start : self.end - outer.start]
            else:
                around = list(outer[self.start : self.end])
            match self.kind:
                case "blockquote_open":
                    self._lines = [_QUOTE_MARK.sub("", line, count=1) for line in around]
                case "footnote_open":
                    first = _FOOTNOTE_MARK.sub("", around[0], count=1) if around else ""
                    self._lines = [first, *(_dedented(line, 4) for line in around[1:])]
                case _:
                    self._lines = _item(around)
        return self._lines


def in_containers(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[tuple[int, Token, Container | None]]:
    """Every token with its position and what it stands in (a quote, item or footnote); of an opening one, itself."""
    around: list[Container] = []
    # row loop: the block tokens of one body
    for position, token in enumerate(tokens):
        if token.type in _CLOSERS:
            around.pop()
        elif token.type in _OPENERS:
            start, end = token.map or (0, 0)
            around.append(Container(token.type, start, end, around[-1] if around else lines))
        yield position, token, around[-1] if around else None


def block_id(text: str) -> str | None:
    """The block id at the end of ``text``, without ^."""
    # the last line decides; a text without a caret is the common case
    found = _BLOCK_ID.search(text[text.rfind("\n") + 1 :]) if "^" in text else None
    return found[1] if found is not None else None


def id_below(tokens: Sequence[Token], closing: int) -> str | None:
    """The block id that stands alone in the paragraph after the block whose last token is at ``closing``."""
    if closing + 2 >= len(tokens) or tokens[closing + 1].type != "paragraph_open":
        return None
    return lone_id(tokens[closing + 2].content)


def lone_id(text: str) -> str | None:
    """The block id a paragraph consists of."""
    return block_id(text) if text.startswith("^") else None


def trimmed(lines: Sequence[str]) -> str:
    """The lines as one text, without the blank ones at both ends."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip(_BLANKS):
        start += 1
    while end > start and not lines[end - 1].strip(_BLANKS):
        end -= 1
    return "\n".join(lines[start:end])


def _item(lines: Sequence[str]) -> list[str]:
    """The lines of a list item without its marker and its indentation."""
    if not lines:
        return []
    first = lines[0]
    marker = _ITEM_MARK.match(first)
    end = marker.end() if marker is not None else 0
    rest = first[end:].lstrip(" \t")
    column = len(first[:end].expandtabs(4))
    gap = len(first[: len(first) - len(rest)].expandtabs(4)) - column
    # five or more blanks, or nothing, after the marker: the text begins one column behind it
    width = column + (gap if rest and gap <= 4 else 1)
    head = rest if gap <= 4 else first[end + 1 :]
    return [head, *(_dedented(line, width) for line in lines[1:])]


def _dedented(line: str, width: int) -> str:
    """``line`` without its first ``width`` columns, as far as they are blank."""
    margin = len(line) - len(line.lstrip(" \t"))
    if "\t" in line[:margin]:
        blanks = line[:margin].expandtabs(4)
        return " " * max(len(blanks) - width, 0) + line[margin:]
    return line[min(margin, width) :]
