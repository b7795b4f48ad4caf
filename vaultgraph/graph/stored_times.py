"""A check of the moments and durations that a .kgl file holds as text, before anything relies on them.

Called by graph/stored_columns for variant cells. Only form and ranges are checked, column-wise; giving the text its
meaning is cypher/stored_values' work.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

import polars as pl

from vaultgraph.note.records import ValueKind

_OF_YEAR: Final = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|[12]\d))"
)
_DAY: Final = rf"(?:\d{{4}}|[+-]\d{{4,9}})-{_OF_YEAR}"
_NEAR: Final = rf"(?:[1-9]\d{{3}}|0[1-9]\d\d|00[1-9]\d|000[1-9])-{_OF_YEAR}"  # years of Python's dates
_SHORT: Final = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{6})?"
_TIME: Final = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?"
_OFFSET: Final = r"(?:Z|[+-](?:(?:0\d|1[0-7]):[0-5]\d(?::[0-5]\d)?|18:00))"
_ZONE: Final = r"(?:\[[A-Za-z][A-Za-z0-9_+/-]{0,124}\])?"
_AMOUNT: Final = r"-?\d{1,18}"
_CLOCK: Final = rf"T(?:{_AMOUNT}H)?(?:{_AMOUNT}M)?(?:{_AMOUNT}(?:\.\d{{1,9}})?S)?"
_DURATION: Final = rf"P(?:{_AMOUNT}Y)?(?:{_AMOUNT}M)?(?:{_AMOUNT}D)?(?:{_CLOCK})?"
_FORMS: Final[Mapping[ValueKind, str]] = MappingProxyType(
    {
        ValueKind.TIME: _TIME + _OFFSET,
        ValueKind.LOCAL_TIME: _TIME,
        ValueKind.ZONED_DATETIME: f"{_DAY}T{_TIME}{_OFFSET}{_ZONE}",
        ValueKind.LOCAL_DATETIME_NS: f"{_DAY}T{_TIME}",
        ValueKind.FAR_DATE: _DAY,
        ValueKind.DURATION: _DURATION,
    }
)
_ITEM_FORMS: Final[Mapping[ValueKind, str]] = MappingProxyType(
    {
        **_FORMS,
        ValueKind.DATE: _NEAR,
        ValueKind.LOCAL_DATETIME: f"{_NEAR}T{_SHORT}",
        ValueKind.UTC_DATETIME: f"{_NEAR}T{_SHORT}",
    }
)


def stored_times_fault(kinds: pl.Series, texts: pl.Series) -> str | None:
    """What is wrong with the cells whose text is a moment, a duration or a list of such; None where nothing is."""
    lists = texts.filter(kinds == ValueKind.LIST)
    if len(lists):
        items = _items_of(lists)
        if items is None:
            return "has a list that is none"
        if not _all_read(*items, _ITEM_FORMS):
            return "has a time or duration that cannot be read"
    return None if _all_read(kinds, texts, _FORMS) else "has a time or duration that cannot be read"


def _all_read(kinds: pl.Series, texts: pl.Series, forms: Mapping[ValueKind, str]) -> bool:
    for kind, form in forms.items():
        cells = texts.filter(kinds == kind)
        if not len(cells):
            continue
        if cells.null_count() or not cells.str.contains(f"^{form}$").all():
            return False
        if kind == ValueKind.DURATION and cells.str.contains("[PT]$").any():
            return False
        years = cells.str.extract(r"^([+-]?\d+)-02-29").drop_nulls().cast(pl.Int64)
        if not ((years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0))).all():
            return False
    return True


def _items_of(lists: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """Kinds and texts of the items of all lists; None where one is not a list of such pairs, or holds no JSON."""
    kinds: list[int] = []
    texts: list[str] = []
    try:
        # row loop: JSON is read text by text; as many as there are lists of times
        for text in lists:
            pairs: object = json.loads(text or "")
            if not isinstance(pairs, list):
                return None
            for pair in cast("list[object]", pairs):
                match pair:
                    case [int(kind), str(item)] if kind in _ITEM_FORMS or kind == ValueKind.JSON:
                        kinds.append(kind)
                        texts.append(item)
                        if kind == ValueKind.JSON:
                            json.loads(item)
                    case _:
                        return None
    except (ValueError, RecursionError):
        return None
    return pl.Series(kinds, dtype=pl.UInt8), pl.Series(texts, dtype=pl.String)
