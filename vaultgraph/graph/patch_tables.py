"""Relationship tables brought up to an edit: some rows replaced, node ids moved where nodes came or went.

Part of graph/patch. What is made here equals what graph/relationships would make of all rows; the sort of a whole
table, which is most of its cost, is not done again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.csr import Array32, Csr, csr_of_sorted
from vaultgraph.graph.graph import RelationshipTable

_ENDS: Final = ("source", "target", "type")
_MOST_RUNS: Final = 256  # rows that stay side by side and are taken together; with more of them a gather is quicker
_MOST_CHUNKS: Final = 8  # pieces of memory a column may lie in, which queries hardly notice, before it is copied


@dataclass(frozen=True, slots=True)
class Exchange:
    """What happens to one table: ``gone``, rows to take out, ascending; ``fresh``, rows to put in, as relationship
    families have them (source, target, properties), in the order of a build between the same ends."""

    gone: Ids
    fresh: pl.DataFrame


def exchanged(
    tables: Mapping[str, RelationshipTable], exchanges: Mapping[str, Exchange], moved: Ids | None
) -> dict[str, RelationshipTable] | None:
    """The tables with rows exchanged; None where a table is not as a build leaves it.

    ``exchanges``: by type, also of types without a table. ``moved``: ``int64[nodes before]``, the new id of each node,
    ascending, -1 for one that is gone and that no row kept has; None where ids stay. Fresh rows go before rows that are
    kept between the same ends.
    """
    done: dict[str, RelationshipTable] = {}
    first = 0
    for name in sorted({*tables, *exchanges}):  # row loop: one step a relationship type
        table, exchange = tables.get(name), exchanges.get(name)
        if table is None:
            assert exchange is not None
            table = _blank(name)
        if exchange is not None and _is_same(table, exchange, moved):
            exchange = None
        if exchange is None and moved is None:
            changed: RelationshipTable | None = replace(table, first=first)
        else:
            changed = _exchanged(table, exchange or _nothing(), moved, first)
        if changed is None:
            return None
        if len(changed.sources):
            done[name] = changed
            first = changed.stop
    return done


def _blank(name: str) -> RelationshipTable:
    ends = np.zeros(0, dtype=np.uint32)
    return RelationshipTable(name, 0, ends, ends, csr_of_sorted(ends, ends), csr_of_sorted(ends, ends), {})


def _nothing() -> Exchange:
    fresh = pl.DataFrame(schema={"source": pl.Int64, "target": pl.Int64, "type": pl.String})
    return Exchange(np.zeros(0, dtype=np.int64), fresh)


def _is_same(table: RelationshipTable, exchange: Exchange, moved: Ids | None) -> bool:
    """Whether what goes comes back as it is."""
    gone, fresh = exchange.gone, exchange.fresh
    if len(gone) != fresh.height:
        return False
    fresh = fresh[np.argsort(_pairs(fresh["source"].to_numpy(), fresh["target"].to_numpy()), kind="stable")]
    for end, ids in (("source", table.sources), ("target", table.targets)):
        was = ids[gone].astype(np.int64)
        if not np.array_equal(was if moved is None else moved[was], fresh[end].to_numpy()):
            return False
    for key in {*table.columns, *fresh.columns} - {*_ENDS}:
        series = _series(table, key)
        old = series[gone] if series is not None else pl.Series([None], dtype=pl.Null).new_from_index(0, len(gone))
        new = fresh[key] if key in fresh.columns else old.clear().extend_constant(None, len(gone))
        both_blank = old.null_count() == len(old) and new.null_count() == len(new)
        if not both_blank and not old.equals(new, check_dtypes=True, null_equal=True):
            return False
    return True


def _series(table: RelationshipTable, key: str) -> pl.Series | None:
    """The values of a property, a cell a row; None where the table has no column of the name."""
    column = table.columns.get(key)
    return column.segments[0].series if column is not None and _is_whole(table, column) else None


def _is_whole(table: RelationshipTable, column: Column) -> bool:
    return (
        len(column.segments) == 1
        and column.segments[0].first == 0
        and len(column.segments[0].series) == len(table.sources)
    )


def _pairs(sources: Array32 | Ids, targets: Array32 | Ids) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return (sources.astype(np.uint64) << np.uint64(32)) | targets.astype(np.uint64)


def _exchanged(table: RelationshipTable, exchange: Exchange, moved: Ids | None, first: int) -> RelationshipTable | None:
    if not all(_is_whole(table, column) for column in table.columns.values()):
        return None
    old_count = len(table.sources)
    is_kept = np.ones(old_count, dtype=np.bool_)
    is_kept[exchange.gone] = False
    kept = np.flatnonzero(is_kept)
    sources, targets = _moved(table.sources[kept], moved), _moved(table.targets[kept], moved)
    fresh = exchange.fresh
    fresh_pairs = _pairs(fresh["source"].to_numpy(), fresh["target"].to_numpy())
    order = np.argsort(fresh_pairs, kind="stable")
    fresh, fresh_pairs = fresh[order], fresh_pairs[order]
    places = np.searchsorted(_pairs(sources, targets), fresh_pairs, side="left")
    taken = np.insert(kept, places, old_count + np.arange(len(places)))
    fresh_sources, fresh_targets = (fresh[end].to_numpy().astype(np.uint32) for end in ("source", "target"))
    new_sources, new_targets = np.insert(sources, places, fresh_sources), np.insert(targets, places, fresh_targets)
    return RelationshipTable(
        type=table.type,
        first=first,
        sources=new_sources,
        targets=new_targets,
        outgoing=csr_of_sorted(new_sources, new_targets),
        incoming=_incoming(table.incoming, taken, old_count, new_sources, new_targets),
        columns=_columns(table, fresh, taken),
    )


def _moved(ids: Array32, moved: Ids | None) -> Array32:
    return ids if moved is None else moved[ids].astype(np.uint32)


def _incoming(old: Csr, taken: Ids, old_count: int, sources: Array32, targets: Array32) -> Csr:
    """Adjacency from targets, the kept rows in the order they had: ids only move together.

    ``taken``: for each row its old row, or one beyond ``old_count`` where it is new.
    """
    row_of = np.full(old_count, -1, dtype=np.int64)
    is_old = taken < old_count
    row_of[taken[is_old]] = np.flatnonzero(is_old)
    rows = row_of[old.rows]
    rows = rows[rows >= 0]
    added = np.flatnonzero(~is_old)
    if len(added):
        added_pairs = _pairs(targets[added], sources[added])
        order = np.argsort(added_pairs, kind="stable")
        added, added_pairs = added[order], added_pairs[order]
        old_pairs = _pairs(targets[rows], sources[rows])
        # Between the same ends rows stand in the order of the table.
        places = np.searchsorted(old_pairs, added_pairs, side="left")
        rows = np.insert(rows, places, added)
    return csr_of_sorted(targets[rows], sources[rows], rows.astype(np.uint32))


def _columns(table: RelationshipTable, fresh: pl.DataFrame, taken: Ids) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for key in sorted({*table.columns, *fresh.columns} - {*_ENDS}):  # row loop: one step a property
        old = _series(table, key)
        if old is None:
            old = fresh[key].clear().extend_constant(None, len(table.sources))
        new = fresh[key] if key in fresh.columns else old.clear().extend_constant(None, fresh.height)
        series = _gathered(old, new.cast(old.dtype).alias(key), taken)
        if series.null_count() < len(series):
            columns[key] = Column((Segment(0, series.alias(key)),))
    return columns


def _gathered(old: pl.Series, new: pl.Series, taken: Ids) -> pl.Series:
    """``old`` and ``new``, one after the other, gathered by ``taken``: run by run, since most rows stay in place."""
    breaks = np.flatnonzero(np.diff(taken) != 1) + 1
    bounds = [0, *breaks.tolist(), len(taken)]
    both = pl.concat([old, new]) if len(new) else old
    if len(bounds) > _MOST_RUNS:
        return both.rechunk()[taken]
    # row loop: the runs, a few
    parts = [both.slice(int(taken[start]), stop - start) for start, stop in pairwise(bounds) if start < stop]
    if not parts:
        return both.clear()
    pieced = pl.concat(parts, rechunk=False)
    return pieced if pieced.n_chunks() <= _MOST_CHUNKS else pieced.rechunk()
