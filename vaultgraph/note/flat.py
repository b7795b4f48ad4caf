"""Frontmatter that needs no YAML parser: keys at the first column, with one-line scalars or lists of them.

A shortcut in front of `frontmatter.compose` that takes most notes: the grammar here is a part of YAML in which every
line means the same by itself as in the whole. Anything else, however slightly, is refused and goes to the parser. Notes
repeat each other's lines, so a reader remembers what it made of one.
"""

import re
from collections.abc import Callable
from typing import Final, Generic, TypeVar

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
    rf"|( {{0,8}})- +(?:({_PLAIN})|{_QUOTED}) *)?"
)
_COMMA: Final = re.compile(", ?")

Value = TypeVar("Value")
"""What the caller of a reader makes of a scalar."""

FlatEntry = tuple[str, int, Value | None, list[Value] | None, list[int] | None]
"""A key, its line, and either its one scalar or a list of them, with the lines of the items where they have their own.

Lines are 1-based lines of the file.
"""
_Line = tuple[str | None, str | None, Value | None, list[Value] | None, bool]
"""What a line is by itself: a key, an item (the blank space before its dash), or nothing; its scalar or its list; and
whether it is a key without a value, which items may follow."""


class FlatReader(Generic[Value]):
    """Reads one frontmatter after the other; ``make`` turns kind and text of a scalar into what the caller wants.

    What it remembers is bounded by the distinct lines it was given.
    """

    def __init__(self, make: Callable[[str, str], Value]) -> None:
        self._make = make
        self._lines: dict[str, _Line[Value]] = {"": (None, None, None, None, False)}

    def entries(self, source: str) -> list[FlatEntry[Value]] | None:
        """The entries of a flat frontmatter in order; None where the YAML parser has to judge."""
        texts = source.split("\n")
        if texts.pop() or len(source) > MOST_CHARS:
            return None
        known = self._lines
        entries: list[FlatEntry[Value]] = []
        keys: set[str] = set()
        indent: str | None = None  # of the list being read
        # row loop: the lines of one frontmatter
        for line, text in enumerate(texts, 2):
            found = known.get(text) or self._read(text)
            if found is None:
                return None
            key, margin, value, items, is_open = found
            if key is not None:
                keys.add(key)
                entries.append((key, line, value, items, None))
                indent = "" if is_open else None
            elif margin is not None and value is not None:
                if indent is None:
                    return None
                first, first_line, _, items, lines = entries[-1]
                if items is None or lines is None:
                    indent = margin
                    entries[-1] = (first, first_line, None, [value], [line])
                elif margin == indent:
                    items.append(value)
                    lines.append(line)
                else:
                    return None
        return entries if len(keys) == len(entries) else None

    def _read(self, text: str) -> _Line[Value] | None:
        """What the line is; None where it is nothing of the kind."""
        found = _LINE.fullmatch(text)
        if found is None:
            return None
        key, plain, double, single, flow, margin, item, item_double, item_single = found.groups()
        if key is None:
            value = self._value(item, item_double, item_single)
            line = (None, margin, value, None, False)
        elif flow is not None:
            texts = _COMMA.split(flow[1:-1]) if len(flow) > 2 else []
            line = (key, None, None, [self._make(implicit_kind(text), text) for text in texts], False)
        else:
            is_open = plain is None and double is None and single is None
            line = (key, None, self._value(plain, double, single), None, is_open)
        self._lines[text] = line
        return line

    def _value(self, plain: str | None, double: str | None, single: str | None) -> Value:
        if plain is not None:
            text = plain.rstrip(" ")
            return self._make(implicit_kind(text), text)
        text = double if double is not None else single
        return self._make(NULL, "") if text is None else self._make(TEXT, text)


def flat_entries(source: str) -> list[FlatEntry[tuple[str, str]]] | None:
    """The entries of one frontmatter, each scalar as its kind and text; None where the YAML parser has to judge."""
    return FlatReader(_kind_and_text).entries(source)


def _kind_and_text(kind: str, text: str) -> tuple[str, str]:
    return kind, text
