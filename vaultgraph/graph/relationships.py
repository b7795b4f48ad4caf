"""Relationship tables: from rows of node ids to one table a type, with adjacency both ways.

The last step of a build before the Graph. It knows nothing of notes: rows come from links.py, folders.py and shared.py.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import RelationshipTable

_ENDS: Final = ("source", "target", "type")


def relationship_tables(families: list[pl.DataFrame]) -> dict[str, RelationshipTable]:
    """Tables by type, sorted by type. Each family: source, target Int64, type String, and property columns of its own.

    Rows of a table are sorted by (source, target), and between the same ends as the families give them. A property that
    no relationship of a type has is left out.
    """
    parts: dict[str, list[pl.DataFrame]] = {}
    for family in families:
        types = family["type"].unique().to_list()
        for name in types:  # row loop: one step a relationship type
            part = family if len(types) == 1 else family.filter(pl.col("type") == name)
            parts.setdefault(name, []).append(part)
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for name in sorted(parts):
        tables[name] = _table(name, first, parts[name])
        first = tables[name].stop
    return tables


def _table(name: str, first: int, parts: list[pl.DataFrame]) -> RelationshipTable:
    rows = parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")
    sources, targets = (rows[end].to_numpy().astype(np.uint32) for end in ("source", "target"))
    pairs = (sources.astype(np.uint64) << np.uint64(32)) | targets
    order = np.argsort(pairs, kind="stable")
    sources, targets = sources[order], targets[order]
    kept = [key for key in rows.columns if key not in _ENDS and rows[key].null_count() < rows.height]
    ordered = rows.select(kept)[order] if kept else None
    columns = {key: Column((Segment(0, ordered[key]),)) for key in sorted(kept)} if ordered is not None else {}
    return RelationshipTable(
        type=name,
        first=first,
        sources=sources,
        targets=targets,
        outgoing=build_csr(sources, targets),
        incoming=build_csr(targets, sources),
        columns=columns,
    )
