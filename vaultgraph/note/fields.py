"""Inline fields of bodies: `key:: value` on a line of its own, `[key:: value]` and `(key:: value)` inside text.

They become property cells typed like frontmatter. Nothing is read in code, math and comments. Two readers with one
result: from block tokens, exact; and from paragraphs in which nothing can hide a field. `pieces` chooses. Linear in the
length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl
from markdown_it.token import Token

from vaultgraph.note.patterns import WIKILINK
from vaultgraph.note.spans import blanked

_RESERVED: Final = frozenset(
    ("id", "type", "title", "name", "aliases", "tags", "parent", "cssclasses", "kg_skip", "path", "file_path", "body")
)
_KEY: Final = r"[^\[\](){}|`:*~=<>#\\\n]{1,100}"
_WRAP: Final = r"(\*{1,3}|~~|==)?"
_LINE: Final = re.compile(rf"[ \t]*{_WRAP}({_KEY})(?:\1)?::(?!:)")
_OPENER: Final = re.compile(rf"[\[(][ \t]*{_WRAP}({_KEY})(?:\1)?::(?!:)")
_WORD: Final = re.compile(r"[^\W_]|[^\x00-\x7f]")
_BRACKET: Final = re.compile(r"[\[\]()]")
_CLOSES: Final = {"]": "[", ")": "("}
_BLOCK_ID: Final = re.compile(r"[ \t]\^[A-Za-z0-9-]+\Z")
_WIKILINK: Final = re.compile(WIKILINK.replace(")*", ")*+"))
_PREFIX: Final = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+[ \t>]*)*")
_MARK: Final = re.compile(r"\[[^\[\]\n]\][ \t]+")
_GAP: Final = re.compile(r"\n[ \t>]*\n")
# what makes a paragraph, or the whole body, one to be parsed
_REGION: Final = r"```|~~~|%%|\$\$|<[A-Za-z/!?]|\]:"
_HIDING: Final = re.compile(r"[`$\t]| {4}|^[ >]*[-=|:][-=|: ]*$", re.MULTILINE)


class Field(NamedTuple):
    """A field: its 0-based line, the key as written without marks of emphasis, the value as written."""

    row: int
    key: str
    value: str

    def names(self) -> list[str]:
        """The insides of the wikilinks in its value."""
        return [link.removeprefix("!")[2:-2] for link in _WIKILINK.findall(self.value)] if "[[" in self.value else []


def bodies_with_fields(bodies: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two masks over the texts of bodies: those that may have fields, and those of them that have to be parsed."""
    some = bodies.str.contains("::", literal=True)
    chosen = bodies.filter(some)
    if not len(chosen):
        return some, some
    unsure = chosen.str.contains(_REGION)
    # row loop: bodies with two colons somewhere
    hidden = [any(map(_HIDING.search, _paragraphs(text))) for text in chosen]
    return some, some.clone().scatter(some.arg_true(), unsure | pl.Series(hidden, dtype=pl.Boolean))


def plain_fields(body: str) -> Iterator[Field]:
    """The fields of a body that need not be parsed."""
    # row loop: the lines of one body that may have fields
    for row, line in enumerate(body.split("\n")):
        if "::" in line:
            yield from _fields(row, line, line, is_line=True)


def exact_fields(tokens: Sequence[Token]) -> Iterator[Field]:
    """The fields of a body by its block structure."""
    # row loop: the block tokens of one body
    for position, token in enumerate(tokens):
        if token.type != "inline" or token.map is None or "::" not in token.content:
            continue
        is_line = tokens[position - 1].type == "paragraph_open"
        lines = zip(token.content.split("\n"), blanked(token.content).split("\n"), strict=True)
        # row loop: the lines of one stretch of text
        for row, (text, visible) in enumerate(lines, token.map[0]):
            if "::" in visible:
                yield from _fields(row, text, visible, is_line)


def _paragraphs(body: str) -> Iterator[str]:
    """The stretches between blank lines that have two colons."""
    return (text for text in _GAP.split(body) if "::" in text)


def _fields(row: int, text: str, visible: str, is_line: bool) -> Iterator[Field]:
    """The fields of one line; ``visible``: the line with blanks for what is not read."""
    start = _end(_PREFIX, visible)
    start = _end(_MARK, visible, start)
    found = _LINE.match(visible, start) if is_line else None
    if found is not None and (field := _field(row, found[1], found[2], text[found.end() :])) is not None:
        yield field
        return
    opened = list(_OPENER.finditer(visible))
    pairs = _pairs(visible) if opened else {}
    done = 0
    # row loop: the brackets of one line that a field may begin with
    for found in opened:
        at = found.start()
        end = pairs.get(at, -1)
        if at < done or end < 0 or _is_link(visible, at, end):
            continue
        done = end
        field = _field(row, found[1], found[2], text[found.end() : end])
        if field is not None:
            yield field


def _field(row: int, wrap: str | None, name: str, value: str) -> Field | None:
    """A field, unless its key is none or it says nothing."""
    key, value = name.strip(), value.strip()
    if wrap and value.startswith(wrap):
        value = value[len(wrap) :].lstrip()
    for mark in ("__", "_"):
        if len(key) > 2 * len(mark) and key.startswith(mark) and key.endswith(mark):
            key = key.removeprefix(mark).removesuffix(mark)
    value = _BLOCK_ID.sub("", value).rstrip()
    return Field(row, key, value) if value and _WORD.search(key) and key not in _RESERVED else None


def _pairs(text: str) -> dict[int, int]:
    """Where each bracket of a line is closed; the two kinds do not see each other."""
    pairs: dict[int, int] = {}
    opened: dict[str, list[int]] = {"[": [], "(": []}
    # row loop: the brackets of one line
    for found in _BRACKET.finditer(text):
        mark = found.group()
        if mark in opened:
            opened[mark].append(found.start())
        elif opened[_CLOSES[mark]]:
            pairs[opened[_CLOSES[mark]].pop()] = found.start()
    return pairs


def _is_link(text: str, start: int, end: int) -> bool:
    """Whether the brackets from ``start`` to ``end`` belong to a link, or are escaped."""
    before, after = text[max(start - 1, 0) : start], text[end + 1 : end + 2]
    return before in {"[", "\\"} or (after == "(" if text[start] == "[" else before == "]")


def _end(pattern: re.Pattern[str], text: str, start: int = 0) -> int:
    found = pattern.match(text, start)
    return found.end() if found is not None else start
