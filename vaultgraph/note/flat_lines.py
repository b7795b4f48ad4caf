"""The lines of flat frontmatter, each by itself: its key, and the codes of its values.

One line is taken apart by a regular expression; many distinct ones by columns, which give the same and leave what they
are not sure of. What lines are to each other is for `flat`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, made_of, selected
from vaultgraph.note.frontmatter import TEXT
from vaultgraph.note.lines import IntArray, at_rows
from vaultgraph.note.values import EMPTY_LIST, Values

_MANY: Final = 200  # distinct lines from which on columns take less time
# what no line has, and what an unquoted value does not begin with
BAD: Final = "\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff"
_FIRST: Final = r" \-?:,\[\]{}#&*!|>'\"%@`"

FOLDING: Final = ">-"
"""In place of a value: the lines below it that are further in are one text."""

# a colon is not followed by blank space, a hash not preceded by it
_PLAIN: Final = rf"[^{BAD}{_FIRST}](?:[^{BAD}:#]|:(?=[^{BAD} ])|(?<! )#)*"
_QUOTED: Final = rf"\"([^{BAD}\"\\]*)\"|'([^{BAD}']*)'"
_ITEM: Final = r"[^\W_][\w./-]*(?: [\w./-]+)*"
_KEY: Final = r"[^\W\d_](?:[\w ./-]{0,98}\w)?"
_LINE: Final = re.compile(
    rf"(?:({_KEY}):"
    rf"(?: +(?:({_PLAIN}|-[0-9][0-9.]*)|{_QUOTED}|(\[(?:{_ITEM}(?:, ?{_ITEM})*)?\])|({FOLDING})))? *"
    rf"|( {{0,8}})- +(?:({_PLAIN})|{_QUOTED}) *)?"
)
_WHOLE_KEY: Final = re.compile(_KEY)
_MOST_MARGIN: Final = 8
# the same for columns, whose engine looks neither ahead nor behind, and of letters only those that both engines know
_PLAIN_START: Final = rf"^(?:[^{BAD}{_FIRST}][^{BAD}]*|-[0-9][0-9.]*)$"
_IN_QUOTES: Final = rf"^(?:\"[^{BAD}\"\\]*\"|'[^{BAD}']*')$"
# a letter twice only: each time takes as long to compile as all that is not one
_LETTER: Final = r"[\p{L}0-9]"
_BETWEEN: Final = "[_./-]*(?: [_./-]+)*"
_FLOW: Final = rf"^\[(?:{_LETTER}(?:{_BETWEEN}(?: |, ?)?{_LETTER})*{_BETWEEN})?\]$"


class LineKind(IntEnum):
    """What a line of frontmatter is by itself."""

    OTHER = 0  # for the YAML parser to judge
    BLANK = 1
    SCALAR = 2  # a key with one value, not null
    LIST = 3  # a key with a list
    OPEN = 4  # a key without a value, so that items may follow; null where none do
    ITEM = 5
    FOLDED = 6  # a key whose value is the text on the lines below


@dataclass(slots=True)
class LineTable:
    """Distinct lines by number: ``kinds`` (LineKind), ``details`` (the number of the key, the margin of an item, or
    -1), and the ``codes`` of values of line i from ``firsts[i]``, ``counts[i]`` of them."""

    kinds: list[int] = field(default_factory=list[int])
    details: list[int] = field(default_factory=list[int])
    firsts: list[int] = field(default_factory=list[int])
    counts: list[int] = field(default_factory=list[int])
    codes: list[int] = field(default_factory=list[int])

    def add(self, kind: int, detail: int, codes: Sequence[int]) -> int:
        """Adds a line; its number."""
        number = len(self.kinds)
        self.kinds.append(kind)
        self.details.append(detail)
        self.firsts.append(len(self.codes))
        self.counts.append(len(codes))
        self.codes += codes
        return number


class LineReader:
    """Reads each distinct line once.

    ``values`` gives values their codes, ``empty`` is that of an empty list; ``table``: the distinct lines; ``keys``:
    the number of each key.
    """

    def __init__(self, values: Values) -> None:
        self.table = LineTable()
        self.keys: dict[str, int] = {}
        self.values = values
        self.empty = values.code_of(EMPTY_LIST, "")
        self._known: dict[str, int] = {}  # the number of what may be a key, -1 where it is none

    def numbers_of(self, texts: pl.Series) -> IntArray:
        """The number in ``table`` of each line; those of equal lines are equal."""
        place, distinct = _distinct(texts)
        numbers = np.full(len(distinct), -1, dtype=np.int64)
        if len(distinct) >= _MANY:
            self._read_many(distinct, numbers)
        left = np.flatnonzero(numbers < 0)
        # row loop: the lines that columns leave
        numbers[left] = [self._read(text) for text in at_rows(distinct, left).to_list()]
        return numbers[place]

    def key_number(self, key: str) -> int:
        """The number of ``key``, a new one where it was not met before."""
        return self.keys.setdefault(key, len(self.keys))

    def _known_key(self, text: str) -> int:
        """The number of what stands before a colon, -1 where that is not a key of flat frontmatter."""
        number = self._known.get(text)
        if number is None:
            self._known[text] = number = self.key_number(text) if _WHOLE_KEY.fullmatch(text) else -1
        return number

    def _read(self, text: str) -> int:
        """Takes a line apart; its number."""
        found = _LINE.fullmatch(text)
        if found is None:
            return self.table.add(LineKind.OTHER, -1, ())
        key, plain, double, single, flow, folded, margin, item, item_double, item_single = found.groups()
        if key is None:
            if margin is None:
                return self.table.add(LineKind.BLANK, -1, ())
            code = self._scalar(item, item_double, item_single)
            return self.table.add(LineKind.OTHER if code < 0 else LineKind.ITEM, len(margin), (code,))
        number = self.key_number(key)
        if folded is not None:
            return self.table.add(LineKind.FOLDED, number, ())
        if flow is not None:
            texts = flow[1:-1].replace(", ", ",").split(",") if len(flow) > 2 else []
            codes = [code for code in map(self.values.plain_code, texts) if code >= 0]
            return self.table.add(LineKind.LIST, number, codes or (self.empty,))
        code = self._scalar(plain, double, single)
        if code >= 0:
            return self.table.add(LineKind.SCALAR, number, (code,))
        # a stated null, unlike none at all, is followed by no items
        return self.table.add(LineKind.OPEN if plain is None else LineKind.LIST, number, ())

    def _scalar(self, plain: str | None, double: str | None, single: str | None) -> int:
        if plain is not None:
            return self.values.plain_code(plain.rstrip(" "))
        text = double if double is not None else single
        return -1 if text is None else self.values.code_of(TEXT, text)

    def _read_many(self, texts: pl.Series, numbers: IntArray) -> None:
        """Takes lines apart; sets the ``numbers`` of all but those that are left."""
        parts = _parts_of(texts)
        place, before = _distinct(parts["before"])
        keys = np.array([self._known_key(text) for text in before.to_list()], dtype=np.int64)[place]
        form = parts["form"].to_numpy()
        is_item = parts["is_item"].to_numpy()
        form = np.where(is_item | (keys >= 0), form, _Form.OTHER)
        codes = np.full(len(texts), -1, dtype=np.int64)
        value = parts["value"]
        plain, quoted = np.flatnonzero(form == _Form.PLAIN), np.flatnonzero(form == _Form.QUOTED)
        codes[plain] = self.values.plain_codes(at_rows(value, plain).to_list())
        codes[quoted] = self.values.text_codes(at_rows(value, quoted).to_list())
        kind = np.select(
            [form == _Form.OTHER, is_item, form == _Form.NONE, form == _Form.FLOW, form == _Form.FOLDED, codes >= 0],
            [LineKind.OTHER, LineKind.ITEM, LineKind.OPEN, LineKind.LIST, LineKind.FOLDED, LineKind.SCALAR],
            LineKind.LIST,
        )
        kind[is_item & (codes < 0)] = LineKind.OTHER
        detail = np.where(is_item, parts["margin"].to_numpy(), keys)
        single = np.flatnonzero((kind != LineKind.OTHER) & (form != _Form.FLOW))
        numbers[single] = self._add(kind[single], detail[single], codes[single], (codes[single] >= 0).astype(np.int64))
        flow = np.flatnonzero((kind != LineKind.OTHER) & (form == _Form.FLOW))
        if len(flow):
            numbers[flow] = self._add(kind[flow], detail[flow], *self._items(at_rows(value, flow)))

    def _items(self, lists: pl.Series) -> tuple[IntArray, IntArray]:
        """The codes of the items of ``[a, b]``, one list after the other, and how many each has."""
        split = made_of(lists, _ITEMS)
        sizes = split.list.len().to_numpy().astype(np.int64)
        codes = np.array(self.values.plain_codes(split.explode().to_list()), dtype=np.int64)
        counts = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[codes >= 0], minlength=len(sizes))
        codes = codes[codes >= 0]
        before = np.cumsum(counts) - counts
        codes = np.insert(codes, before[counts == 0], self.empty)
        return codes, np.maximum(counts, 1)

    def _add(self, kind: IntArray, detail: IntArray, codes: IntArray, counts: IntArray) -> IntArray:
        """Adds lines; their numbers. ``codes`` holds -1 where a line has no value."""
        table, first = self.table, len(self.table.kinds)
        table.kinds += kind.tolist()
        table.details += detail.tolist()
        table.firsts += (len(table.codes) + np.cumsum(counts) - counts).tolist()
        table.counts += counts.tolist()
        table.codes += codes[codes >= 0].tolist()
        return np.arange(first, first + len(kind))


class _Form(IntEnum):
    """How the value of a line is written, as far as columns can tell."""

    NONE = 0
    PLAIN = 1
    QUOTED = 2
    FLOW = 3
    FOLDED = 4
    OTHER = 5


def _distinct(texts: pl.Series) -> tuple[IntArray, pl.Series]:
    """For each text its place among the distinct ones, and those, in the order in which they are first met."""
    if len(texts) < _MANY:
        number: dict[str, int] = {}
        places = [number.setdefault(text, len(number)) for text in texts.to_list()]
        return np.array(places, dtype=np.int64), pl.Series(list(number), dtype=pl.String)
    place = texts.cast(pl.Categorical(pl.Categories.random())).to_physical().to_numpy().astype(np.int64)
    highest = np.maximum.accumulate(place) if len(place) else place
    return place, at_rows(texts, np.flatnonzero(np.diff(highest, prepend=-1) > 0))


def _parts_of(texts: pl.Series) -> pl.DataFrame:
    """Of each line: is_item, margin (of an item), before (what may be a key), value without blank space and quotes
    around it, form of that."""
    found = pl.DataFrame([texts.alias("line")])
    for step in _PARTS:  # an expression that has another one twice computes it twice
        found = selected(found, step)
    return found


def _forms() -> pl.Expr:
    """How the value is written."""
    is_broken = _VALUE.str.contains(" #", literal=True) | _VALUE.str.contains(": ", literal=True)
    is_broken |= _VALUE.str.ends_with(":") | (_IS_ITEM & _VALUE.str.starts_with("-"))
    is_plain = _VALUE.str.contains(_PLAIN_START) & ~is_broken
    is_other = _REST.is_null() | ((_REST != "") & ~_REST.str.starts_with(" ")) | ((_VALUE == "") & _IS_ITEM)
    return (
        pl.when(is_other)
        .then(pl.lit(int(_Form.OTHER)))
        .when(_VALUE == "")
        .then(pl.lit(int(_Form.NONE)))
        .when(is_plain)
        .then(pl.lit(int(_Form.PLAIN)))
        .when(_VALUE.str.contains(_IN_QUOTES))
        .then(pl.lit(int(_Form.QUOTED)))
        .when(_VALUE.str.contains(_FLOW) & ~_IS_ITEM)
        .then(pl.lit(int(_Form.FLOW)))
        .when((_VALUE == FOLDING) & ~_IS_ITEM)
        .then(pl.lit(int(_Form.FOLDED)))
        .otherwise(pl.lit(int(_Form.OTHER)))
        .alias("form")
    )


_ITEMS: Final = (
    TEXTS.str.strip_prefix("[").str.strip_suffix("]").str.replace_all(", ", ",", literal=True).str.split(",")
)
_LINE_TEXT, _BARE, _CUT = pl.col("line"), pl.col("bare"), pl.col("cut")
_IS_ITEM, _MARGIN, _BEFORE, _REST, _VALUE = (pl.col(name) for name in ("is_item", "margin", "before", "rest", "value"))
_MARGIN_SIZE: Final = _LINE_TEXT.str.len_bytes().cast(pl.Int64) - _BARE.str.len_bytes()
_UNQUOTED: Final = (
    pl.when(pl.col("form") == int(_Form.QUOTED)).then(_VALUE.str.head(-1).str.slice(1)).otherwise(_VALUE).alias("value")
)
_PARTS: Final = (
    (_LINE_TEXT, _LINE_TEXT.str.strip_chars_start(" ").alias("bare"), _LINE_TEXT.str.splitn(":", 2).alias("cut")),
    (
        _CUT.struct.field("field_0").alias("before"),
        _CUT.struct.field("field_1").alias("after"),
        _BARE.str.strip_prefix("-").alias("bare"),
        _MARGIN_SIZE.alias("margin"),
        (_BARE.str.starts_with("- ") & (_MARGIN_SIZE <= _MOST_MARGIN)).alias("is_item"),
    ),
    (_IS_ITEM, _MARGIN, _BEFORE, pl.when(_IS_ITEM).then("bare").otherwise("after").alias("rest")),
    (_IS_ITEM, _MARGIN, _BEFORE, _REST, _REST.str.strip_chars(" ").alias("value")),
    (_IS_ITEM, _MARGIN, _BEFORE, _VALUE, _forms()),
    (
        _IS_ITEM,
        _MARGIN,
        pl.when(_IS_ITEM).then(pl.lit("")).otherwise(_BEFORE).alias("before"),
        _UNQUOTED,
        pl.col("form"),
    ),
)
