"""Callouts and code fences of one body, wherever they stand.

A callout is a quote that says so in its first line; a callout inside another is one too, and the text of the outer one
holds it, marks and all.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id, id_below, in_containers, trimmed

MOST_CALLOUTS_DEEP: Final = 10  # callouts inside callouts; each repeats the text of those in it
_HEAD: Final = re.compile(r"\[!([\w-]+)(?:\|[^\[\]]*)?\]([+-]?)[ \t]*([^\n]*)")


class Callout(NamedTuple):
    """A callout: its 0-based line, kind in lower case, "+" or "-" where it folds, title and text."""

    row: int
    kind: str
    fold: str | None
    title: str | None
    text: str
    block: str | None


class Fence(NamedTuple):
    """Fenced code: its 0-based line, language in lower case, code, and the text above that ends in a colon."""

    row: int
    language: str | None
    code: str
    caption: str | None
    block: str | None


def callouts_of(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Callout]:
    """The callouts of a body in the order in which they begin."""
    closings = _closings(tokens)
    ends: list[int] = []  # of the callouts around
    # row loop: the block tokens of one body
    for position, token, container in in_containers(tokens, lines):
        if token.type != "blockquote_open" or token.map is None or container is None:
            continue
        while ends and ends[-1] < position:
            ends.pop()
        head = _head(tokens, position)
        if head is None or len(ends) >= MOST_CALLOUTS_DEEP:
            continue
        kind, fold, title = head
        closing = closings[position]
        ends.append(closing)
        text = trimmed(container.lines()[1:])
        own = block_id(text or title) or id_below(tokens, closing)
        yield Callout(token.map[0], kind.lower(), fold or None, title.strip() or None, text, own)


def fences_of(tokens: Sequence[Token], languages: Sequence[str] | None) -> Iterator[Fence]:
    """The code fences of a body, those in ``languages`` only unless it is None."""
    # row loop: the block tokens of one body
    for position, token in enumerate(tokens):
        if token.type != "fence" or token.map is None:
            continue
        words = token.info.split(maxsplit=1)
        language = words[0].lower() if words else None
        if languages is None or language in languages:
            code = token.content.removesuffix("\n")
            yield Fence(token.map[0], language, code, _caption(tokens, position), id_below(tokens, position))


def _head(tokens: Sequence[Token], position: int) -> tuple[str, str, str] | None:
    """Kind, fold and title of the quote opened at ``position``, if its first line is a callout's."""
    if position + 2 >= len(tokens) or tokens[position + 1].type != "paragraph_open":
        return None
    quote, inline = tokens[position].map, tokens[position + 2]
    if quote is None or inline.map is None or inline.map[0] != quote[0]:
        return None
    found = _HEAD.match(inline.content)
    return (found[1], found[2], found[3]) if found is not None else None


def _closings(tokens: Sequence[Token]) -> dict[int, int]:
    """Where each quote ends, by the position at which it opens."""
    closings: dict[int, int] = {}
    around: list[int] = []
    # row loop: the block tokens of one body
    for position, token in enumerate(tokens):
        if token.type == "blockquote_open":
            around.append(position)
        elif token.type == "blockquote_close":
            closings[around.pop()] = position
    return closings


def _caption(tokens: Sequence[Token], position: int) -> str | None:
    """The paragraph directly above the block at ``position``, if it announces it."""
    if position < 3 or tokens[position - 1].type != "paragraph_close":
        return None
    text = tokens[position - 2].content.rstrip()
    return text if text.endswith(":") else None
