"""Relationship tables: from rows of node ids to one table a type, with adjacency both ways.

The last step of a build before the Graph. It knows nothing of notes: rows come from links.py, folders.py and shared.py.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import RelationshipTable

_ENDS: Final = ("source", "target", "type", "order")


def relationship_tables(rows: pl.DataFrame) -> dict[str, RelationshipTable]:
    """Tables by type, sorted by type; ``rows``: source, target Int64, type String, order, and property columns.

    Rows of a table are sorted by (source, target, order). A property that no relationship of a type has is left out.
    """
    rows = rows.with_columns(pl.col("order").fill_null(0)).sort(
        "type", "source", "target", "order", maintain_order=True
    )
    tables: dict[str, RelationshipTable] = {}
    first = 0
    runs = rows["type"].rle().struct.unnest() if rows.height else pl.DataFrame({"len": [], "value": []})
    for length, kind in runs.iter_rows():  # row loop: one step a relationship type
        part = rows.slice(first, length)
        sources = part["source"].to_numpy().astype(np.uint32)
        targets = part["target"].to_numpy().astype(np.uint32)
        tables[kind] = RelationshipTable(
            type=kind,
            first=first,
            sources=sources,
            targets=targets,
            outgoing=build_csr(sources, targets),
            incoming=build_csr(targets, sources),
            columns=_columns(part),
        )
        first += length
    return tables


def _columns(part: pl.DataFrame) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name in sorted(set(part.columns) - set(_ENDS)):
        series = part[name]
        if series.null_count() < len(series):
            columns[name] = Column((Segment(0, series.rechunk()),))
    return columns
