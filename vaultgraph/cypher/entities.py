"""Labels, types and properties of nodes and relationships as Python values, one entity or many at a time.

Used where whole entities are asked for (answers, properties(), keys(), maps in row loops); a single property of many
entities goes through execute/properties instead.
"""

import json
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.live import LiveGraph, deleted, read, recalled
from vaultgraph.cypher.stored_values import restored
from vaultgraph.graph.columns import VARIANT, Column, Ids, gather
from vaultgraph.graph.graph import Graph, RelationshipTable, group_index
from vaultgraph.note.records import ValueKind

_FEW: Final = 4  # below, gathering whole columns costs more than looking at each cell


def cells(series: pl.Series) -> list[object]:
    """The cells of a segment as Python values; a variant cell keeps its own kind, JSON text becomes a list or map."""
    if series.dtype != VARIANT:
        return series.to_list()
    kinds = series.struct.field("kind").fill_null(0).to_numpy()
    found: list[object] = [None] * len(series)
    for kind in np.unique(kinds).tolist():
        rows = np.flatnonzero(kinds == kind)
        # row loop: cells differ in type; each is put back in its row
        for row, value in zip(rows.tolist(), _cells_of_kind(series.gather(rows), kind), strict=True):
            found[row] = value
    return found


def _cells_of_kind(series: pl.Series, kind: int) -> list[object]:
    """The cells of a variant series that all have one kind; ``number`` holds days or microseconds since 1970."""
    number = series.struct.field("number")
    match kind:
        case ValueKind.TEXT:
            return series.struct.field("text").to_list()
        case ValueKind.INTEGER:
            return number.to_list()
        case ValueKind.FLOAT:
            return series.struct.field("real").to_list()
        case ValueKind.BOOLEAN:
            return number.cast(pl.Boolean).to_list()
        case ValueKind.DATE:
            return number.cast(pl.Int32).cast(pl.Date).to_list()
        case ValueKind.LOCAL_DATETIME:
            return number.cast(pl.Datetime("us")).to_list()
        case ValueKind.UTC_DATETIME:
            return number.cast(pl.Datetime("us", "UTC")).to_list()
        case ValueKind.EMPTY_LIST:
            return [[] for _ in range(len(series))]
        case ValueKind.JSON:
            return [json.loads(text) if text else None for text in series.struct.field("text").to_list()]
        case _ if kind >= ValueKind.TIME:
            return [restored(kind, text) for text in series.struct.field("text").to_list()]
        case _:
            return [None] * len(series)


def labels_of(graph: Graph, node: int) -> tuple[str, ...]:
    """The labels of one node, in the order to show them.

    Raises:
        EvaluationError: the statement deleted it; this also holds for the other readers of entities.
    """
    if isinstance(graph, LiveGraph):
        return graph.node(node).labels
    _check(node, "node")
    return graph.groups[int(group_index(graph, np.array([node], dtype=np.int64))[0])].labels


def table_of(graph: Graph, relationship: int) -> RelationshipTable:
    """The table that holds a global relationship id.

    Raises:
        IndexError: no table does.
    """
    _check(relationship, "relationship")
    for table in graph.relationships.values():
        if table.first <= relationship < table.stop:
            return table
    raise IndexError(f"no relationship {relationship}")


def type_of(graph: Graph, relationship: int) -> str:
    """The type of a relationship."""
    if isinstance(graph, LiveGraph):
        return graph.relationship(relationship).type
    return table_of(graph, relationship).type


def ends_of(graph: Graph, relationship: int) -> tuple[int, int]:
    """Source and target node of a relationship."""
    if isinstance(graph, LiveGraph):
        found = graph.relationship(relationship)
        return found.source, found.target
    table = table_of(graph, relationship)
    row = relationship - table.first
    return int(table.sources[row]), int(table.targets[row])


def node_property(graph: Graph, node: int, key: str) -> object:
    """One property of one node, None where it has none."""
    if isinstance(graph, LiveGraph):
        return recalled(graph.node(node).properties.get(key))
    _check(node, "node")
    return _one(graph.node_columns.get(key), node)


def relationship_property(graph: Graph, relationship: int, key: str) -> object:
    """One property of one relationship, None where it has none."""
    if isinstance(graph, LiveGraph):
        return recalled(graph.relationship(relationship).properties.get(key))
    table = table_of(graph, relationship)
    return _one(table.columns.get(key), relationship - table.first)


def node_properties(graph: Graph, ids: Ids) -> list[dict[str, object]]:
    """All properties that are not null of each of ``ids``, keys in the order of the graph's columns."""
    if isinstance(graph, LiveGraph):
        return [read(graph.node(one).properties) for one in ids.tolist()]
    if len(ids):
        _check(int(ids.min()), "node")
    if len(ids) <= _FEW:
        return [_properties(graph.node_columns, one) for one in ids.tolist()]
    found: list[dict[str, object]] = [{} for _ in range(len(ids))]
    for key, column in graph.node_columns.items():
        _add(found, key, column, ids)
    return found


def _properties(columns: Mapping[str, Column], row: int) -> dict[str, object]:
    values = ((key, _one(column, row)) for key, column in columns.items())
    return {key: value for key, value in values if value is not None}


def relationship_properties(graph: Graph, ids: Ids) -> list[dict[str, object]]:
    """All properties that are not null of each of ``ids``."""
    if isinstance(graph, LiveGraph):
        return [read(graph.relationship(one).properties) for one in ids.tolist()]
    if len(ids):
        _check(int(ids.min()), "relationship")
    found: list[dict[str, object]] = [{} for _ in range(len(ids))]
    for table in graph.relationships.values():
        positions = np.flatnonzero((ids >= table.first) & (ids < table.stop))
        if len(positions):
            chosen = [found[position] for position in positions.tolist()]
            for key, column in table.columns.items():
                _add(chosen, key, column, ids[positions] - table.first)
    return found


def _check(least: int, what: str) -> None:
    """Refuse what a statement that writes has deleted; its ids are below -1."""
    if least < -1:
        raise deleted(what)


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
                series = segment.series
                place = row - segment.first
                return cells(series.slice(place, 1))[0] if series.dtype.is_nested() else series[place]
    return None
