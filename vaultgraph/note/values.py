"""What a frontmatter scalar is worth: from its kind and text to the columns of a property cell.

Equal scalars are one value with a code (`Values`), whose columns are made once. `tree` uses `native` for what stands
inside a list's maps.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.frontmatter import (
    DATE,
    DATETIME_PARTS,
    INTEGER,
    MAY_BE_TYPED,
    NULL,
    TEXT,
    days_of,
    implicit_kind,
)
from vaultgraph.note.records import PROPERTIES, ValueKind

# kinds of cells beyond those of scalars
JSON: Final = "json"
EMPTY_LIST: Final = "empty list"
TEMPLATE: Final = "template"  # a text that is never looked into

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

Native = tuple[int, int | None, float | None, str | None]
"""Value kind, number, real and text, as in PROPERTIES."""


class Values:
    """Distinct scalars by code, as they are written; ``odd`` are the codes of those that are not text."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.odd: list[int] = []
        self._codes: dict[str, dict[str, int]] = {}  # by kind and text
        self._plain: dict[str, int] = {"": -1}  # of unquoted texts, -1 for null
        self._days: dict[int, int] = {}  # days since 1970 of dates, by code, as far as known

    def code_of(self, kind: str, text: str) -> int:
        """The code of a scalar, -1 for null."""
        if kind == NULL:
            return -1
        codes = self._codes.get(kind)
        if codes is None:
            self._codes[kind] = codes = {}
        code = codes.get(text)
        if code is None:
            codes[text] = code = len(self.kinds)
            self.kinds.append(kind)
            self.texts.append(text)
            if kind != TEXT:
                self.odd.append(code)
        return code

    def plain_code(self, text: str) -> int:
        """The code of an unquoted value, -1 for null."""
        code = self._plain.get(text)
        if code is None:
            self._plain[text] = code = self.code_of(implicit_kind(text), text)
        return code

    def plain_codes(self, texts: Sequence[str]) -> list[int]:
        """The codes of unquoted values, -1 for null."""
        new = [text for text in dict.fromkeys(texts) if text not in self._plain]
        self._plain.update(self._added(TEXT, [text for text in new if text[0] not in MAY_BE_TYPED]))
        self._plain.update(self._added(INTEGER, [text for text in new if text.isdecimal() and text.isascii()]))
        dates = [text for text in new if len(text) == 10 and _DATE.fullmatch(text) and text[:4] != "0000"]
        if dates:
            self._add_dates(dates)
        # row loop: distinct values of other kinds
        for text in [text for text in new if text not in self._plain]:
            self.plain_code(text)
        return list(map(self._plain.__getitem__, texts))

    def text_codes(self, texts: Sequence[str]) -> list[int]:
        """The codes of texts."""
        self._added(TEXT, dict.fromkeys(texts))
        return list(map(self._codes[TEXT].__getitem__, texts))

    def _add_dates(self, texts: list[str]) -> None:
        """Those of ``texts``, which look like dates, whose day the calendar has: nearly all."""
        column = pl.Series(texts, dtype=pl.String)
        days = column.str.to_date("%Y-%m-%d", strict=False).to_physical()
        is_date = days.is_not_null()
        codes = self._added(DATE, column.filter(is_date).to_list())
        self._plain.update(codes)
        self._days.update(zip(codes.values(), days.filter(is_date).to_list(), strict=True))

    def _added(self, kind: str, texts: Iterable[str]) -> dict[str, int]:
        """The codes of distinct ``texts`` of one kind, in their order; new ones where they were not met before."""
        known = self._codes.setdefault(kind, {})
        texts = list(texts)
        new = [text for text in texts if text not in known]
        first = len(self.kinds)
        known.update(zip(new, range(first, first + len(new)), strict=True))
        self.kinds += [kind] * len(new)
        self.texts += new
        if kind != TEXT:
            self.odd += range(first, first + len(new))
        return {text: known[text] for text in texts}

    def columns(self) -> dict[str, pl.Series]:
        """The columns of PROPERTIES that hold a value, by code."""
        size = len(self.texts)
        kinds = np.full(size, int(ValueKind.TEXT), dtype=np.uint8)
        numbers: list[int | None] = [None] * size
        reals: list[float | None] = [None] * size
        texts: list[str | None] = list(self.texts)
        # row loop: distinct scalars that are not text
        for code in self.odd:
            days = self._days.get(code)
            if days is not None:
                kinds[code], numbers[code], texts[code] = ValueKind.DATE, days, None
            else:
                kinds[code], numbers[code], reals[code], texts[code] = native(self.kinds[code], self.texts[code])
        columns = {"kind": kinds, "number": numbers, "real": reals, "text": texts}
        return {name: pl.Series(name, cells, dtype=PROPERTIES[name]) for name, cells in columns.items()}


def native(kind: str, text: str) -> Native:
    """The columns of a cell that is not null; what a kind cannot hold stays text."""
    match kind:
        case "boolean":
            return ValueKind.BOOLEAN, int(text[0] in "tT"), None, None
        case "integer":
            number = _integer(text)
            if number is not None:
                return ValueKind.INTEGER, number, None, None
        case "float":
            return ValueKind.FLOAT, None, _real(text), None
        case "date":
            return ValueKind.DATE, days_of(text), None, None
        case "datetime":
            moment = _moment(text)
            if moment is not None:
                return *moment, None, None
        case "json":
            return ValueKind.JSON, None, None, text
        case "empty list":
            return ValueKind.EMPTY_LIST, None, None, None
        case _:
            pass
    return ValueKind.TEXT, None, None, text


def _integer(text: str) -> int | None:
    """None where the number does not fit 64 bits."""
    if len(text) > 66:
        return None
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    number = int(text, base)
    return number if -(2**63) <= number < 2**63 else None


def _real(text: str) -> float:
    word = text.lower().lstrip("+-")
    if word == ".nan":
        return math.nan
    if word == ".inf":
        return -math.inf if text[0] == "-" else math.inf
    return float(text)


def _moment(text: str) -> tuple[int, int] | None:
    """Value kind and microseconds since 1970; a datetime without a zone counts as if it were UTC."""
    found = DATETIME_PARTS.fullmatch(text)
    if found is None:
        return None
    day, hour, minute, second, fraction, zone = found.groups()
    zone = zone if zone is None or zone == "Z" or ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{hour}:{minute}:{second or '00'}{zone or '+00:00'}")
    except ValueError:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    number = (moment - _EPOCH) // _MICROSECOND + micros
    return (ValueKind.LOCAL_DATETIME if zone is None else ValueKind.UTC_DATETIME), number
