"""Property columns of a range of nodes or relationships as one Series each: what every table export starts from.

A property keeps one type for a label set where all its cells agree; where they differ the cells are JSON text, which is
said beside the column. It knows no file format.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.note.records import ValueKind


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """Values of one property, one for each id of a range; ``is_json``: texts of JSON, because the types differ."""

    key: str
    values: pl.Series
    is_json: bool


def columns_between(columns: Mapping[str, Column], first: int, stop: int) -> Iterator[TypedColumn]:
    """The properties that some id from ``first`` to before ``stop`` has, sorted by key."""
    for key, column in sorted(columns.items()):
        parts = list(_parts(column, first, stop))
        kinds = {part.dtype for _, part in parts if part.null_count() < len(part)}
        if not kinds:
            continue
        is_json = len(kinds) > 1 or VARIANT in kinds
        dtype = pl.String() if is_json else kinds.pop()
        yield TypedColumn(key, _filled(parts, first, stop, dtype, is_json=is_json).alias(key), is_json)


def _parts(column: Column, first: int, stop: int) -> Iterator[tuple[int, pl.Series]]:
    """Id of the first cell, and the cells, of each segment's share of the range."""
    for segment in column.segments:
        low, high = max(first, segment.first), min(stop, segment.stop)
        if low < high:
            yield low, segment.series.slice(low - segment.first, high - low)


def _filled(
    parts: list[tuple[int, pl.Series]], first: int, stop: int, dtype: pl.DataType, *, is_json: bool
) -> pl.Series:
    pieces: list[pl.Series] = []
    at = first
    for low, series in parts:
        pieces.append(pl.Series([None], dtype=dtype).new_from_index(0, low - at))
        pieces.append(json_texts(series) if is_json else series.cast(dtype))
        at = low + len(series)
    pieces.append(pl.Series([None], dtype=dtype).new_from_index(0, stop - at))
    return pl.concat([piece.alias("") for piece in pieces]).rechunk()


def json_texts(series: pl.Series) -> pl.Series:
    """Each cell as JSON text; null stays null. Dates and date-times are texts in it."""
    # row loop: the cells of a column whose types differ
    texts = [None if value is None else json.dumps(plain_value(value), ensure_ascii=False) for value in series]
    return pl.Series(texts, dtype=pl.String)


def plain_value(value: Any) -> Any:
    """A cell as JSON-ready data."""
    match value:
        case dict():
            return _variant_value(value)  # pyright: ignore[reportUnknownArgumentType] -- a cell of VARIANT
        case list() | pl.Series():
            return [plain_value(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case float() if value != value or value in {float("inf"), float("-inf")}:
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return value.isoformat()


def _variant_value(cell: Mapping[str, Any]) -> Any:
    kind = cell["kind"]
    match kind:
        case ValueKind.TEXT:
            return cell["text"]
        case ValueKind.INTEGER:
            return cell["number"]
        case ValueKind.FLOAT:
            return plain_value(cell["real"])
        case ValueKind.BOOLEAN:
            return bool(cell["number"])
        case ValueKind.EMPTY_LIST:
            return []
        case ValueKind.JSON:
            return _loaded(cell["text"])
        case ValueKind.DATE | ValueKind.LOCAL_DATETIME | ValueKind.UTC_DATETIME:
            from vaultgraph.export.scalars import moment_text  # noqa: PLC0415

            return moment_text(kind, cell["number"]).strip('"')
        case ValueKind.LIST:
            return [_loaded(text) if item == ValueKind.JSON else text for item, text in items_of(cell["text"])]
        case _:
            return cell["text"] if kind else None


def items_of(text: str | None) -> list[tuple[int, str]]:
    """Kind and text of each item of a LIST cell."""
    found = _loaded(text)
    return [(item[0], item[1]) for item in found] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]


def _loaded(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError):
        return text


def segment_values(column: Column | None, ids: range) -> list[Any]:
    """The plain Python value of each id, None where there is none."""
    found: list[Any] = [None] * len(ids)
    for segment in column.segments if column else ():
        _place(segment, ids, found)
    return found


def _place(segment: Segment, ids: range, found: list[Any]) -> None:
    low, high = max(ids.start, segment.first), min(ids.stop, segment.stop)
    if low < high:
        found[low - ids.start : high - ids.start] = segment.series.slice(low - segment.first, high - low).to_list()
