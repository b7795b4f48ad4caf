"""Cells between Python and columns: the values of properties as typed or variant series, and back.

Used where a graph is written value by value (graph/freezing) and where it is taken apart again (`Graph.mutable`). The
kinds that have no type in columns stay texts here; cypher/ gives them their meaning.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, cast

import polars as pl

from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.mutable import Written
from vaultgraph.note.records import ValueKind

_DTYPES: Final[Mapping[type, pl.DataType]] = {
    bool: pl.Boolean(),
    int: pl.Int64(),
    float: pl.Float64(),
    str: pl.String(),
    date: pl.Date(),
}
_LOCAL: Final = pl.Datetime("us")
_UTC: Final = pl.Datetime("us", "UTC")
_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)


def series_of(values: Sequence[object]) -> pl.Series:
    """One segment of values (see graph.mutable.Properties), None for none: typed where all are of one type."""
    dtype = _dtype_of(values)
    if dtype is None and all(isinstance(value, list) for value in values if value is not None):
        item = _dtype_of([item for value in values if value is not None for item in cast("list[object]", value)])
        dtype = None if item is None or _has_null_item(values) else pl.List(item)
    if dtype is not None:
        return pl.Series(values, dtype=dtype)
    # row loop: cells differ in type; as many as the segment has
    return pl.Series([_variant(value) for value in values], dtype=VARIANT)


def records_of(columns: Mapping[str, Column], count: int) -> list[dict[str, object]]:
    """The properties of the rows 0 … count - 1, without nulls; what has no type in columns is Written."""
    records: list[dict[str, object]] = [{} for _ in range(count)]
    for key, column in columns.items():
        for segment in column.segments:
            # row loop: every cell becomes a Python value
            for row, value in enumerate(_cells(segment.series), segment.first):
                if value is not None:
                    records[row][key] = value
    return records


def _dtype_of(values: Sequence[object]) -> pl.DataType | None:
    """The type all values have but nulls; None for several, for none, and for lists."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is not datetime:
        return _DTYPES.get(kind)
    aware = {value.tzinfo is not None for value in values if isinstance(value, datetime)}
    return None if len(aware) > 1 else _UTC if aware.pop() else _LOCAL


def _has_null_item(values: Sequence[object]) -> bool:
    return any(None in cast("list[object]", value) for value in values if value is not None)


def _variant(value: object) -> dict[str, object] | None:
    """A cell of a variant segment."""
    kind: int
    number: int | None = None
    real: float | None = None
    text: str | None = None
    match value:
        case None:
            return None
        case bool():
            kind, number = ValueKind.BOOLEAN, int(value)
        case int():
            kind, number = ValueKind.INTEGER, value
        case float():
            kind, real = ValueKind.FLOAT, value
        case str():
            kind, text = ValueKind.TEXT, value
        case datetime():
            kind = ValueKind.LOCAL_DATETIME if value.tzinfo is None else ValueKind.UTC_DATETIME
            number = (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
        case date():
            kind, number = ValueKind.DATE, value.toordinal() - _EPOCH.toordinal()
        case Written():
            kind, text = value.kind, value.text
        case list() if not value:
            kind = ValueKind.EMPTY_LIST
        case _:
            kind, text = _listed(cast("list[object]", value))
    return {"kind": kind, "number": number, "real": real, "text": text}


def _listed(items: list[object]) -> tuple[int, str]:
    """The kind and text of a list whose items differ in type, or have none in columns."""
    if all(item is None or type(item) in (bool, int, float, str) for item in items):
        return ValueKind.JSON, json.dumps(items, ensure_ascii=False)
    return ValueKind.LIST, json.dumps([_item(item) for item in items], ensure_ascii=False)


def _item(item: object) -> list[object]:
    """An item of a list as [kind, text]."""
    match item:
        case Written(kind, text):
            return [kind, text]
        case datetime():
            kind = ValueKind.LOCAL_DATETIME if item.tzinfo is None else ValueKind.UTC_DATETIME
            return [int(kind), item.replace(tzinfo=None).isoformat()]
        case date():
            return [int(ValueKind.DATE), item.isoformat()]
        case _:
            return [int(ValueKind.JSON), json.dumps(item, ensure_ascii=False)]


def _cells(series: pl.Series) -> list[object]:
    if series.dtype != VARIANT:
        return series.to_list()
    # row loop: cells differ in type; as many as the segment has
    return [None if cell is None else _value(**cell) for cell in series.to_list()]


def _value(kind: int | None, number: int | None, real: float | None, text: str | None) -> object:
    match kind:
        case None | 0:
            return None
        case ValueKind.INTEGER:
            return number
        case ValueKind.FLOAT:
            return real
        case ValueKind.TEXT:
            return text
        case ValueKind.BOOLEAN:
            return bool(number)
        case ValueKind.DATE:
            return date.fromordinal(_EPOCH.toordinal() + (number or 0))
        case ValueKind.LOCAL_DATETIME:
            return _EPOCH + (number or 0) * _MICROSECOND
        case ValueKind.UTC_DATETIME:
            return _EPOCH.replace(tzinfo=UTC) + (number or 0) * _MICROSECOND
        case ValueKind.EMPTY_LIST:
            return list[object]()
        case ValueKind.JSON:
            return _of_json(text or "null")
        case ValueKind.LIST:
            pairs: list[tuple[int, str]] = json.loads(text or "[]")
            return [_of_item(item_kind, item_text) for item_kind, item_text in pairs]
        case _:
            return Written(kind, text or "")


def _of_json(text: str) -> object:
    """A list of plain values as itself; maps and what holds maps or lists stay text."""
    value: object = json.loads(text)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return Written(ValueKind.JSON, text) if any(isinstance(item, list | dict) for item in items) else items
    return Written(ValueKind.JSON, text) if isinstance(value, dict) else value


def _of_item(kind: int, text: str) -> object:
    match kind:
        case ValueKind.JSON:
            return json.loads(text)
        case ValueKind.DATE:
            return date.fromisoformat(text)
        case ValueKind.LOCAL_DATETIME:
            return datetime.fromisoformat(text)
        case ValueKind.UTC_DATETIME:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        case _:
            return Written(kind, text)
