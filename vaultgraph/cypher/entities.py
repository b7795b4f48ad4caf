"""Labels, types and properties of nodes and relationships as Python values, one entity or many at a time.

Used where whole entities are asked for (answers, properties(), keys(), maps in row loops); a single property of many
entities goes through execute/properties instead.
"""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import VARIANT, Column, Ids, gather
from vaultgraph.graph.graph import Graph, RelationshipTable, group_index
from vaultgraph.note.records import ValueKind

_FIRST_DAY: Final = date(1970, 1, 1)
_FIRST_MOMENT: Final = datetime(1970, 1, 1)


def cells(series: pl.Series) -> list[object]:
    """The cells of a segment as Python values; a variant cell keeps its own kind, JSON text becomes a list or map."""
    if series.dtype != VARIANT:
        return series.to_list()
    parts = (series.struct.field(name).to_list() for name in ("kind", "number", "real", "text"))
    # row loop: cells differ in type; as many as there are cells
    return [_variant_cell(*part) for part in zip(*parts, strict=True)]


def labels_of(graph: Graph, node: int) -> tuple[str, ...]:
    """The labels of one node, in the order to show them."""
    return graph.groups[int(group_index(graph, np.array([node], dtype=np.int64))[0])].labels


def table_of(graph: Graph, relationship: int) -> RelationshipTable:
    """The table that holds a global relationship id.

    Raises:
        IndexError: no table does.
    """
    for table in graph.relationships.values():
        if table.first <= relationship < table.stop:
            return table
    raise IndexError(f"no relationship {relationship}")


def ends_of(graph: Graph, relationship: int) -> tuple[int, int]:
    """Source and target node of a relationship."""
    table = table_of(graph, relationship)
    row = relationship - table.first
    return int(table.sources[row]), int(table.targets[row])


def node_property(graph: Graph, node: int, key: str) -> object:
    """One property of one node, None where it has none."""
    return _one(graph.node_columns.get(key), node)


def relationship_property(graph: Graph, relationship: int, key: str) -> object:
    """One property of one relationship, None where it has none."""
    table = table_of(graph, relationship)
    return _one(table.columns.get(key), relationship - table.first)


def node_properties(graph: Graph, ids: Ids) -> list[dict[str, object]]:
    """All properties that are not null of each of ``ids``, keys in the order of the graph's columns."""
    found: list[dict[str, object]] = [{} for _ in range(len(ids))]
    for key, column in graph.node_columns.items():
        _add(found, key, column, ids)
    return found


def relationship_properties(graph: Graph, ids: Ids) -> list[dict[str, object]]:
    """All properties that are not null of each of ``ids``."""
    found: list[dict[str, object]] = [{} for _ in range(len(ids))]
    for table in graph.relationships.values():
        positions = np.flatnonzero((ids >= table.first) & (ids < table.stop))
        if len(positions):
            chosen = [found[position] for position in positions.tolist()]
            for key, column in table.columns.items():
                _add(chosen, key, column, ids[positions] - table.first)
    return found


def _add(found: list[dict[str, object]], key: str, column: Column, ids: Ids) -> None:
    for part in gather(column, ids):
        rows = range(len(found)) if part.rows is None else part.rows.tolist()
        # row loop: whole entities are Python maps; as many as the answer holds
        for row, value in zip(rows, cells(part.series), strict=True):
            if value is not None:
                found[row][key] = value


def _one(column: Column | None, row: int) -> object:
    if column is not None:
        for segment in column.segments:
            if segment.first <= row < segment.stop:
                return cells(segment.series.slice(row - segment.first, 1))[0]
    return None


def _variant_cell(kind: int | None, number: int | None, real: float | None, text: str | None) -> object:
    """One cell by its kind; ``number`` holds days or microseconds since 1970 for dates and datetimes."""
    amount = number or 0
    match kind:
        case ValueKind.TEXT:
            return text
        case ValueKind.INTEGER:
            return number
        case ValueKind.FLOAT:
            return real
        case ValueKind.BOOLEAN:
            return bool(number)
        case ValueKind.DATE:
            return _FIRST_DAY + timedelta(days=amount)
        case ValueKind.LOCAL_DATETIME:
            return _FIRST_MOMENT + timedelta(microseconds=amount)
        case ValueKind.UTC_DATETIME:
            return (_FIRST_MOMENT + timedelta(microseconds=amount)).replace(tzinfo=UTC)
        case ValueKind.EMPTY_LIST:
            return []
        case ValueKind.JSON:
            return json.loads(text) if text else None
        case _:
            return None
