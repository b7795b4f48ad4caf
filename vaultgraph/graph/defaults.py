"""Default properties of relationships: what `edge_defaults` gives to those that lack a value.

A step between the relationship tables and the finished Graph; a value that is there is never replaced. Types that no
relationship has are unmet.py's to report.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import polars as pl

from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.graph.ontology_properties import as_text
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile, Scalar

_FIELDS: Final = {"number": pl.Int64(), "real": pl.Float64(), "text": pl.String()}
_ORDER: Final = ("kind", "number", "real", "text")


def with_defaults(graph: Graph, profile: Profile) -> Graph:
    """The graph with the defaults of ``profile.edge_defaults`` in its relationship columns."""
    tables = dict(graph.relationships)
    for name, values in profile.edge_defaults.items():
        if name in tables and values:
            tables[name] = replace(tables[name], columns=_filled(tables[name], values))
    return replace(graph, relationships=tables)


def _filled(table: RelationshipTable, values: Mapping[str, Scalar]) -> dict[str, Column]:
    columns = dict(table.columns)
    for key, value in values.items():
        series = _with_default(_whole(table, key), value, len(table.sources))
        columns[key] = Column((Segment(0, series.alias(key)),))
    return {key: columns[key] for key in sorted(columns)}


def _whole(table: RelationshipTable, key: str) -> pl.Series | None:
    """A property of all rows as one series; None where no row has it."""
    column, count = table.columns.get(key), len(table.sources)
    if column is None or not column.segments:
        return None
    dtypes = {part.series.dtype for part in column.segments}
    dtype = column.segments[0].series.dtype if len(dtypes) == 1 else VARIANT
    pieces: list[pl.Series] = []
    at = 0
    for segment in column.segments:  # row loop: one step a segment
        pieces.append(pl.repeat(None, segment.first - at, dtype=dtype, eager=True))
        pieces.append(segment.series if segment.series.dtype == dtype else as_variants(segment.series))
        at = segment.stop
    pieces.append(pl.repeat(None, count - at, dtype=dtype, eager=True))
    return pl.concat([piece.alias("") for piece in pieces if len(piece)]).rechunk()


def _with_default(series: pl.Series | None, value: Scalar, count: int) -> pl.Series:
    """``series`` with ``value`` where it has none; where the types differ, every cell keeps its own."""
    constant = pl.repeat(value, count, dtype=_dtype(value), eager=True)
    if series is None:
        return constant
    if series.dtype != constant.dtype:
        series, constant = as_variants(series), as_variants(constant)
    is_there = series.struct.field("kind").fill_null(0) > 0 if series.dtype == VARIANT else series.is_not_null()
    return series if is_there.all() else series.zip_with(is_there, constant)


def _dtype(value: Scalar) -> pl.DataType:
    match value:
        case bool():
            return pl.Boolean()
        case int():
            return pl.Int64()
        case float():
            return pl.Float64()
        case str():
            return pl.String()


def as_variants(series: pl.Series) -> pl.Series:
    """A typed segment as a VARIANT one: the same cells, each with its kind; lists as JSON text."""
    if series.dtype == VARIANT:
        return series
    kind, field = _kind(series.dtype)
    if isinstance(series.dtype, pl.List):
        values = as_text(series)
    elif isinstance(series.dtype, pl.Date):
        values = series.cast(pl.Int32).cast(pl.Int64)
    else:
        values = series.cast(pl.Int64) if field == "number" else series
    is_there = series.is_not_null()
    fields = {name: pl.repeat(None, len(series), dtype=dtype, eager=True) for name, dtype in _FIELDS.items()}
    code = pl.select(pl.when(is_there).then(pl.lit(kind.value, pl.UInt8)).otherwise(pl.lit(0, pl.UInt8))).to_series()
    return pl.DataFrame(fields | {"kind": code, field: values}).select(*_ORDER).to_struct().cast(VARIANT)


def _kind(dtype: pl.DataType) -> tuple[ValueKind, str]:
    """The kind of the cells of a segment, and the field of a variant that holds them."""
    match dtype:
        case pl.Int64():
            return ValueKind.INTEGER, "number"
        case pl.Float64():
            return ValueKind.FLOAT, "real"
        case pl.Boolean():
            return ValueKind.BOOLEAN, "number"
        case pl.Date():
            return ValueKind.DATE, "number"
        case pl.Datetime():
            return ValueKind.UTC_DATETIME if dtype.time_zone else ValueKind.LOCAL_DATETIME, "number"
        case pl.List():
            return ValueKind.JSON, "text"
        case _:
            return ValueKind.TEXT, "text"
