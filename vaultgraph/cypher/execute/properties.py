"""One property of many nodes, relationships or moments at once, and label tests: what a column of ids is asked for.

Only the asked property is gathered. A property whose cells have one type over the asked rows comes back typed.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, assert_never

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.entities import cells
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import from_values, nulls, one_dtype
from vaultgraph.cypher.syntax import LabelAnd, LabelAny, LabelExpression, LabelName, LabelNot, LabelOr
from vaultgraph.graph.columns import VARIANT, Gathered, Ids, gather
from vaultgraph.graph.graph import Graph, group_index, tables_of

Flags = npt.NDArray[np.bool_]


def node_property_column(graph: Graph, ids: Ids, key: str) -> BoundColumn:
    """The property ``key`` of each node; null for -1."""
    return _assembled(gather(graph.node_columns.get(key), ids), len(ids))


def relationship_property_column(graph: Graph, ids: Ids, key: str) -> BoundColumn:
    """The property ``key`` of each relationship; null for -1."""
    parts: list[Gathered] = []
    for table, positions in tables_of(graph, ids):
        found = gather(table.columns.get(key), ids[positions] - table.first)
        parts += [Gathered(positions[_rows(part)], part.series) for part in found]
    return _assembled(parts, len(ids))


def _assembled(parts: list[Gathered], height: int) -> BoundColumn:
    """The parts of a gather as one column: typed where they agree, else cell by cell."""
    parts = [part for part in parts if part.series.dtype != pl.Null]
    if not parts:
        return nulls(height)
    dtype = one_dtype({part.series.dtype for part in parts})
    if dtype is not None and dtype != VARIANT:
        if len(parts) == 1 and parts[0].rows is None:
            return ValueColumn(parts[0].series)
        index = np.full(height, -1, dtype=np.int64)
        index[np.concatenate([_rows(part) for part in parts])] = np.arange(sum(len(part.series) for part in parts))
        stacked = pl.concat([part.series.cast(dtype) for part in parts])
        positions = pl.Series(index)
        return ValueColumn(stacked.gather(positions.set(positions < 0, None)))
    found: list[object] = [None] * height
    for part in parts:
        # row loop: cells differ in type
        for row, value in zip(_rows(part).tolist(), cells(part.series), strict=True):
            found[row] = value
    return from_values(found)


def _rows(part: Gathered) -> Ids:
    return np.arange(len(part.series), dtype=np.int64) if part.rows is None else part.rows


_DATE_FIELDS: Final[Mapping[str, Callable[[pl.Series], pl.Series]]] = MappingProxyType(
    {
        "year": lambda series: series.dt.year(),
        "quarter": lambda series: series.dt.quarter(),
        "month": lambda series: series.dt.month(),
        "week": lambda series: series.dt.week(),
        "weekyear": lambda series: series.dt.iso_year(),
        "day": lambda series: series.dt.day(),
        "dayofweek": lambda series: series.dt.weekday(),
        "weekday": lambda series: series.dt.weekday(),
        "dayofyear": lambda series: series.dt.ordinal_day(),
        "ordinalday": lambda series: series.dt.ordinal_day(),
    }
)
_TIME_FIELDS: Final[Mapping[str, Callable[[pl.Series], pl.Series]]] = MappingProxyType(
    {
        "hour": lambda series: series.dt.hour(),
        "minute": lambda series: series.dt.minute(),
        "second": lambda series: series.dt.second(),
    }
)


def moment_field_column(series: pl.Series, name: str) -> ValueColumn | None:
    """The field ``name`` of a Date or Datetime series as Int64, None where there is no kernel for it."""
    field = _DATE_FIELDS.get(name.lower())
    if field is None and series.dtype != pl.Date:
        field = _TIME_FIELDS.get(name.lower())
    return None if field is None else ValueColumn(field(series).cast(pl.Int64))


def property_column(column: BoundColumn, key: str, graph: Graph) -> BoundColumn | None:
    """``column.key`` where there is a column-wise way, else None."""
    match column:
        case NodeColumn(ids):
            return node_property_column(graph, ids, key)
        case RelationshipColumn(ids):
            return relationship_property_column(graph, ids, key)
        case ValueColumn(series) if series.dtype == pl.Null:
            return column
        case ValueColumn(series) if series.dtype.is_temporal():
            return moment_field_column(series, key)
        case _:
            return None


def has_labels(labels: tuple[str, ...], wanted: LabelExpression) -> bool:
    """Whether a node with ``labels`` (or a relationship whose only label is its type) satisfies ``wanted``."""
    match wanted:
        case LabelName(name):
            return name in labels
        case LabelAnd(parts):
            return all(has_labels(labels, part) for part in parts)
        case LabelOr(parts):
            return any(has_labels(labels, part) for part in parts)
        case LabelNot(part):
            return not has_labels(labels, part)
        case LabelAny():
            return bool(labels)
        case _:
            assert_never(wanted)


def labels_column(column: NodeColumn | RelationshipColumn, wanted: LabelExpression, graph: Graph) -> ValueColumn:
    """Whether each node has the labels, or each relationship the type: Boolean, null for -1. A test per group only."""
    ids = column.ids
    missing = ids < 0
    if isinstance(column, NodeColumn):
        flags = np.array([has_labels(group.labels, wanted) for group in graph.groups] or [False], dtype=np.bool_)
        found: Flags = flags[group_index(graph, np.where(missing, 0, ids))]
    else:
        found = np.zeros(len(ids), dtype=np.bool_)
        for table, positions in tables_of(graph, ids):
            found[positions] = has_labels((table.type,), wanted)
    series = pl.Series(found)
    return ValueColumn(series.set(pl.Series(missing), None) if missing.any() else series)
