"""Frontmatter that needs no YAML parser: keys at the first column, with one-line scalars or lists of them.

A shortcut in front of `frontmatter.compose` that takes most notes: the grammar here is a part of YAML in which every
line means the same by itself as in the whole. Anything else, however slightly, is refused and goes to the parser.
"""

import re
from typing import Final

from vaultgraph.note.frontmatter import NULL, TEXT, implicit_kind

MOST_CHARS: Final = 20_000

_BAD: Final = "\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff"
# the first character is no indicator; a colon is not followed by blank space, a hash not preceded by it
_PLAIN: Final = rf"[^{_BAD} \-?:,\[\]{{}}#&*!|>'\"%@`](?:[^{_BAD}:#]|:(?=[^{_BAD} ])|(?<! )#)*"
_QUOTED: Final = rf"\"([^{_BAD}\"\\]*)\"|'([^{_BAD}']*)'"
_ITEM: Final = r"[^\W_][\w./-]*(?: [\w./-]+)*"
_LINE: Final = re.compile(
    r"(?:([^\W\d_](?:[\w ./-]{0,98}\w)?):"
    rf"(?: +(?:({_PLAIN}|-[0-9][0-9.]*)|{_QUOTED}|(\[(?:{_ITEM}(?:, ?{_ITEM})*)?\])))? *"
    rf"|( {{0,8}})- +(?:({_PLAIN})|{_QUOTED}) *)?\n"
)
_COMMA: Final = re.compile(", ?")

Scalar = tuple[str, str, int]  # kind, text, 1-based line of the file


FlatEntry = tuple[str, int, Scalar, list[Scalar] | None]
"""A key, its line, and its one scalar or, where the last part is not None, a list of them."""


def flat_entries(source: str) -> list[FlatEntry] | None:
    """The entries of a flat frontmatter in order; None where the YAML parser has to judge."""
    if len(source) > MOST_CHARS:
        return None
    entries: list[FlatEntry] = []
    keys: set[str] = set()
    indent: str | None = None  # of the list being read
    at, line, size = 0, 1, len(source)
    # row loop: the lines of one frontmatter
    while at < size:
        found = _LINE.match(source, at)
        if found is None:
            return None
        at, line = found.end(), line + 1
        key, plain, double, single, flow, margin, item, item_double, item_single = found.groups()
        if key is not None:
            if key in keys:
                return None
            keys.add(key)
            scalar = _scalar(plain, double, single, line)
            entries.append((key, line, scalar, None if flow is None else _flow_items(flow, line)))
            is_open = plain is None and double is None and single is None and flow is None
            indent = "" if is_open else None
        elif margin is not None:
            if indent is None:
                return None
            key, key_line, scalar, items = entries[-1]
            if items is None:
                items, indent = [], margin
                entries[-1] = (key, key_line, scalar, items)
            elif margin != indent:
                return None
            items.append(_scalar(item, item_double, item_single, line))
    return entries


def _scalar(plain: str | None, double: str | None, single: str | None, line: int) -> Scalar:
    if plain is not None:
        text = plain.rstrip(" ")
        return implicit_kind(text), text, line
    text = double if double is not None else single
    return (NULL, "", line) if text is None else (TEXT, text, line)


def _flow_items(flow: str, line: int) -> list[Scalar]:
    texts = _COMMA.split(flow[1:-1]) if len(flow) > 2 else []
    return [(implicit_kind(text), text, line) for text in texts]
