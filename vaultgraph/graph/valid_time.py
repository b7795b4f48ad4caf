"""A graph as it held on one day: without the nodes and relationships whose declared validity leaves that day out.

A pure function of a graph, the profile's `valid_time:` and a day; the result is a graph like any other. An end that is
missing is open, and both ends belong to the interval. Whoever queries keeps the graphs made here.
"""

from collections.abc import Mapping
from datetime import date
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import VARIANT, Column, Ids, Segment, gather
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable, ranges_of_label
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Interval, ValidTime

Mask = npt.NDArray[np.bool_]

EPOCH: Final = date(1970, 1, 1)


@frozen
class Held:
    """The graph of a day, and how many ends were no dates: those count as open."""

    graph: Graph
    undated: int


def graph_at(graph: Graph, declared: ValidTime, day: date) -> Held:
    """``graph`` without what did not hold on ``day``; labels and types stay, if need be without nodes or relationships.

    Node and relationship ids are not those of ``graph``.
    """
    number = (day - EPOCH).days
    keep = np.ones(graph.node_count, dtype=np.bool_)
    undated = 0
    for label, interval in declared.labels.items():
        for first, stop in ranges_of_label(graph, label):
            ids = np.arange(first, stop, dtype=np.int64)
            holds, odd = _holding(graph.node_columns, interval, ids, number)
            keep[first:stop] &= holds
            undated += odd
    rows: dict[str, Mask] = {}
    for name, table in graph.relationships.items():
        kept = keep[table.sources] & keep[table.targets]
        interval = declared.types.get(name)
        if interval is not None:
            holds, odd = _holding(table.columns, interval, np.arange(len(table.sources), dtype=np.int64), number)
            kept &= holds
            undated += odd
        rows[name] = kept
    if bool(keep.all()) and all(bool(kept.all()) for kept in rows.values()):
        return Held(graph, undated)
    return Held(_kept(graph, keep, rows), undated)


def _holding(columns: Mapping[str, Column], interval: Interval, ids: Ids, day: int) -> tuple[Mask, int]:
    """Which of ``ids`` hold on ``day``, and how many of their ends are no dates."""
    after, odd_starts = _compared(columns.get(interval.start), ids, day)
    before, odd_stops = _compared(columns.get(interval.stop), ids, day)
    return (after <= 0) & (before >= 0), odd_starts + odd_stops


def _compared(column: Column | None, ids: Ids, day: int) -> tuple[npt.NDArray[np.int8], int]:
    """-1, 0 or 1 as each value lies before, on or after ``day``; 0 where there is no date; and how many are none."""
    signs = np.zeros(len(ids), dtype=np.int8)
    odd = 0
    for part in gather(column, ids):
        days = _days(part.series)
        odd += int((days.is_null() & part.series.is_not_null()).sum())
        compared = (days - day).sign().fill_null(0).cast(pl.Int8).to_numpy()
        signs[part.rows if part.rows is not None else slice(None)] = compared
    return signs, odd


def _days(series: pl.Series) -> pl.Series:
    """Days since 1970 of dates, datetimes (in UTC) and texts that are ISO dates; null for everything else."""
    dtype = series.dtype
    if dtype == VARIANT:
        frame = series.struct.unnest()
        is_date = frame["kind"] == ValueKind.DATE
        texts = _days(frame["text"])
        return pl.select(pl.when(is_date).then(frame["number"]).otherwise(texts)).to_series()
    if dtype == pl.String:
        return series.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Int64)
    if dtype == pl.Date or isinstance(dtype, pl.Datetime):
        return series.cast(pl.Date).cast(pl.Int32).cast(pl.Int64)
    return pl.Series(series.name, [None], dtype=pl.Int64).new_from_index(0, len(series))


def _kept(graph: Graph, keep: Mask, rows: Mapping[str, Mask]) -> Graph:
    before = np.concatenate(([0], np.cumsum(keep))).astype(np.int64)  # the new id of each node, and of the end
    groups = tuple(NodeGroup(group.labels, int(before[group.first]), int(before[group.stop])) for group in graph.groups)
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for name, table in graph.relationships.items():
        kept = rows[name]
        sources = before[table.sources[kept]].astype(np.uint32)
        targets = before[table.targets[kept]].astype(np.uint32)
        tables[name] = RelationshipTable(
            name,
            first,
            sources,
            targets,
            build_csr(sources, targets),
            build_csr(targets, sources),
            _columns(table.columns, kept),
        )
        first = tables[name].stop
    return Graph(int(before[-1]), groups, _columns(graph.node_columns, keep), tables)


def _columns(columns: Mapping[str, Column], keep: Mask) -> dict[str, Column]:
    """The cells of what is kept; columns without any are left out."""
    before = np.concatenate(([0], np.cumsum(keep))).astype(np.int64)
    found: dict[str, Column] = {}
    for key, column in columns.items():
        segments: list[Segment] = []
        for segment in column.segments:
            kept = keep[segment.first : segment.stop]
            if bool(kept.any()):
                cells = segment.series.filter(pl.Series(kept))
                segments.append(Segment(int(before[segment.first]), cells))
        if segments:
            found[key] = Column(tuple(segments))
    return found
