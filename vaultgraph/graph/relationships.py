"""Relationship tables: from rows of node ids to one table a type, with adjacency both ways.

The last step of a build before the Graph. It knows nothing of notes: rows come from links.py, folders.py and shared.py.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.csr import csr_of_sorted
from vaultgraph.graph.graph import RelationshipTable
from vaultgraph.graph.texts import Texts, order_by, rows_at, rows_of

_ENDS: Final = ("source", "target")
_TYPE: Final = "type"

_Part = tuple[pl.DataFrame, Ids | None]  # a family, and which of its rows; None for all


def relationship_tables(families: list[pl.DataFrame]) -> dict[str, RelationshipTable]:
    """Tables by type, sorted by type. Each family: source, target Int64, type String, and property columns of its own.

    Rows of a table are sorted by (source, target), and between the same ends as the families give them. A property that
    no relationship of a type has is left out.
    """
    types = Texts()
    parts: dict[int, list[_Part]] = {}
    for family in families:
        number = types.numbers(family["type"])
        counts = np.bincount(number)
        present = np.flatnonzero(counts)
        order = order_by(number) if len(present) > 1 else None
        stops = np.cumsum(counts)
        for at in present.tolist():  # row loop: one step a relationship type
            rows = None if order is None else order[stops[at] - counts[at] : stops[at]]
            parts.setdefault(at, []).append((family, rows))
    names = types.distinct.to_list()
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for at in sorted(parts, key=lambda at: names[at]):
        tables[names[at]] = _table(names[at], first, parts[at])
        first = tables[names[at]].stop
    return tables


def _table(name: str, first: int, parts: list[_Part]) -> RelationshipTable:
    family, rows = parts[0]
    if len(parts) > 1:
        whole = [every if own is None else rows_at(every, own) for every, own in parts]
        family, rows = pl.concat(whole, how="diagonal", rechunk=True), None
    sources, targets = (family[end].to_numpy() if rows is None else family[end].to_numpy()[rows] for end in _ENDS)
    order = order_by(sources, targets)
    sources, targets = sources[order].astype(np.uint32), targets[order].astype(np.uint32)
    at = rows_of(order if rows is None else rows[order])
    columns: dict[str, Column] = {}
    for key in sorted({*family.columns} - {*_ENDS, _TYPE}):
        whole = family[key]
        if whole.null_count() == len(whole):
            continue
        cells = whole[at]
        if cells.null_count() < len(cells):
            columns[key] = Column((Segment(0, cells),))
    by_target = order_by(targets)
    return RelationshipTable(
        type=name,
        first=first,
        sources=sources,
        targets=targets,
        outgoing=csr_of_sorted(sources, targets),
        incoming=csr_of_sorted(targets[by_target], sources[by_target], by_target.astype(np.uint32)),
        columns=columns,
    )
