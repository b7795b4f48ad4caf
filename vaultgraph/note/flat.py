"""Frontmatter that needs no YAML parser: keys at the first column, with one-line scalars or lists of them.

A shortcut in front of `frontmatter.compose` that takes most notes: the grammar here is a part of YAML in which every
line means the same by itself as in the whole. Anything else, however slightly, is refused and goes to the parser. Notes
repeat each other's lines, and the order of their keys, so a reader remembers what it made of both.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
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
    rf"|( {{0,8}})- +(?:({_PLAIN})|{_QUOTED}) *)?"
)


class LineKind(IntEnum):
    """What a line of frontmatter is by itself."""

    OTHER = 0  # for the YAML parser to judge
    BLANK = 1
    SCALAR = 2  # a key with one value, not null
    LIST = 3  # a key with a list
    OPEN = 4  # a key without a value, so that items may follow; null where none do
    ITEM = 5


@dataclass(slots=True)
class LineTable:
    """Distinct lines by number: ``kinds`` (LineKind), and the ``codes`` of values of line i from ``firsts[i]``,
    ``counts[i]`` of them."""

    kinds: list[int] = field(default_factory=list[int])
    firsts: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])
    codes: list[int] = field(default_factory=list[int])

    def add(self, kind: int, codes: Sequence[int]) -> int:
        """Adds a line; its number."""
        number = len(self.kinds)
        self.kinds.append(kind)
        self.firsts.append(len(self.codes))
        self.counts.append(len(codes))
        self.codes += codes
        return number


@dataclass(frozen=True, slots=True)
class Layout:
    """What the lines of a frontmatter are to each other, one entry a line: the number of the key it states something
    of (-1: none), the ordinal of its first value, and the 1-based line of the file on which the key is."""

    keys: Sequence[int]
    ordinals: Sequence[int]
    lines: Sequence[int]


class FlatReader:
    """Reads one frontmatter after the other.

    ``code_of`` gives the code of a value from its kind and text, -1 for null; ``empty`` is the code of an empty list.
    ``table``: the distinct lines; ``keys``: the number of each key. What is remembered is bounded by the lines given.
    """

    def __init__(self, code_of: Callable[[str, str], int], empty: int) -> None:
        self.table = LineTable()
        self.keys: dict[str, int] = {}
        self._code_of = code_of
        self._empty = empty
        self._numbers = _Remembered(self._read)
        self._plain = _Remembered(self._plain_code)  # codes of what is not quoted
        self._roles: list[int] = []  # by number of a line
        self._role_of: dict[tuple[int, int], int] = {}
        self._layouts: dict[tuple[int, ...], Layout | None] = {}

    def read(self, source: str) -> tuple[list[int], Layout] | None:
        """The numbers of the lines in ``table`` and their layout; None where the YAML parser has to judge."""
        texts = source.split("\n")
        if texts.pop() or len(source) > MOST_CHARS:
            return None
        numbers = list(map(self._numbers.__getitem__, texts))
        shape = tuple(map(self._roles.__getitem__, numbers))
        layout = self._layouts.get(shape)
        if layout is None:
            if shape in self._layouts:
                return None
            self._layouts[shape] = layout = self._laid_out(shape)
        return None if layout is None else (numbers, layout)

    def key_number(self, key: str) -> int:
        """The number of ``key``, a new one where it was not met before."""
        return self.keys.setdefault(key, len(self.keys))

    def add_value(self, code: int) -> int:
        """The number of a line that is not read, with one value."""
        return self._line(LineKind.OTHER, -1, (code,))

    def _read(self, text: str) -> int:
        """Takes a line apart; its number."""
        found = _LINE.fullmatch(text)
        if found is None:
            return self._line(LineKind.OTHER, -1, ())
        key, plain, double, single, flow, margin, item, item_double, item_single = found.groups()
        if key is None:
            if margin is None:
                return self._line(LineKind.BLANK, -1, ())
            code = self._scalar(item, item_double, item_single)
            return self._line(LineKind.OTHER if code < 0 else LineKind.ITEM, len(margin), (code,))
        number = self.key_number(key)
        if flow is not None:
            texts = flow[1:-1].replace(", ", ",").split(",") if len(flow) > 2 else []
            codes = [code for code in map(self._plain.__getitem__, texts) if code >= 0]
            return self._line(LineKind.LIST, number, codes or (self._empty,))
        code = self._scalar(plain, double, single)
        if code >= 0:
            return self._line(LineKind.SCALAR, number, (code,))
        # a stated null, unlike none at all, is followed by no items
        return self._line(LineKind.OPEN if plain is None else LineKind.LIST, number, ())

    def _plain_code(self, text: str) -> int:
        return self._code_of(implicit_kind(text), text)

    def _scalar(self, plain: str | None, double: str | None, single: str | None) -> int:
        if plain is not None:
            return self._plain[plain.rstrip(" ") if plain[-1] == " " else plain]
        text = double if double is not None else single
        return -1 if text is None else self._code_of(TEXT, text)

    def _line(self, kind: LineKind, detail: int, codes: Sequence[int]) -> int:
        self._roles.append(self._role_of.setdefault((kind, detail), len(self._role_of)))
        return self.table.add(kind, codes)

    def _laid_out(self, shape: Sequence[int]) -> Layout | None:
        roles = list(self._role_of)
        rows: list[tuple[int, int, int]] = []
        seen: set[int] = set()
        number, key_line, count = -1, 0, 0  # of the key at hand
        indent: int | None = None  # of the list being read; -1: none was yet
        # row loop: the lines of one frontmatter
        for line, role in enumerate(shape, 2):
            kind, detail = roles[role]
            if kind == LineKind.BLANK:
                rows.append((-1, 0, line))
            elif kind == LineKind.ITEM and indent is not None and indent in {-1, detail}:
                rows.append((number, count, key_line))
                indent, count = detail, count + 1
            elif kind in {LineKind.ITEM, LineKind.OTHER} or detail in seen:
                return None
            else:
                number, key_line, count = detail, line, 0
                seen.add(number)
                rows.append((number, -1 if kind == LineKind.SCALAR else 0, line))
                indent = -1 if kind == LineKind.OPEN else None
        keys, ordinals, lines = zip(*rows, strict=True) if rows else ((), (), ())
        return Layout(keys, ordinals, lines)


class _Remembered(dict[str, int]):
    """Answers of ``answer``, which is asked once for each text."""

    def __init__(self, answer: Callable[[str], int]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, text: str) -> int:
        self[text] = number = self._answer(text)
        return number


def flat_entries(source: str) -> Layout | None:
    """The layout of one frontmatter; None where the YAML parser has to judge."""
    found = FlatReader(lambda kind, _: -1 if kind == NULL else 0, 0).read(source)
    return None if found is None else found[1]
