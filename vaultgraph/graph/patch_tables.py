"""Relationship tables brought up to an edit: some rows replaced, node ids moved where nodes came or went.

Part of graph/patch. What is made here equals what graph/relationships would make of all rows; the sort of a whole
table, which is most of its cost, is not done again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.csr import Array32, Csr, csr_of_sorted
from vaultgraph.graph.graph import RelationshipTable

_ENDS: Final = ("source", "target", "type")
_FEW_RUNS: Final = 8  # up to which their rows are told apart by comparing
_MOST_RUNS: Final = 256  # rows that stay side by side and are taken together; with more of them a gather is quicker
_MOST_CHUNKS: Final = 8  # pieces of memory a column may lie in, which queries hardly notice, before it is copied


@dataclass(frozen=True, slots=True)
class Exchange:
    """What happens to one table: ``gone``, rows to take out, ascending; ``fresh``, rows to put in, as relationship
    families have them (source, target, properties), in the order of a build between the same ends."""

    gone: Ids
    fresh: pl.DataFrame


NOTHING: Final = Exchange(
    np.zeros(0, dtype=np.int64), pl.DataFrame(schema={"source": pl.Int64, "target": pl.Int64, "type": pl.String})
)


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
    moves = None if moved is None else _moves(moved)
    for name in sorted({*tables, *exchanges}):  # row loop: one step a relationship type
        table, exchange = tables.get(name), exchanges.get(name)
        if table is None:
            assert exchange is not None
            table = _blank(name)
        if exchange is not None and not _is_same(table, exchange, moved):
            changed = _exchanged(table, exchange, moves, first)
        else:
            changed = _renumbered(table, moves, first)
        if changed is None:
            return None
        if len(changed.sources):
            done[name] = changed
            first = changed.stop
    return done


@dataclass(frozen=True, slots=True)
class _Moves:
    """``ids``: the new id of each node, that of the next one that stays for one that is gone, so that rows still to be
    taken out keep their order. ``first``: the first id that does not stay."""

    ids: Array32
    first: int

    def of(self, ids: Array32) -> Array32:
        """The new ids; ``ids`` itself where all stay."""
        at = np.flatnonzero(ids >= np.uint32(self.first))
        if not len(at):
            return ids
        changed = ids.copy()
        changed[at] = self.ids[ids[at]]
        return changed


def _moves(moved: Ids) -> _Moves:
    ahead = np.where(moved >= 0, moved, np.iinfo(np.uint32).max)[::-1]
    filled = np.minimum.accumulate(ahead)[::-1].astype(np.uint32)
    return _Moves(filled, int(np.argmax(np.append(moved != np.arange(len(moved)), True))))


def _renumbered(table: RelationshipTable, moves: _Moves | None, first: int) -> RelationshipTable:
    """The table with its rows as they are, between the same nodes."""
    sources, targets = (ids if moves is None else moves.of(ids) for ids in (table.sources, table.targets))
    if sources is table.sources and targets is table.targets:
        return replace(table, first=first)
    assert moves is not None
    # Its nodes only move together, so that what is adjacent stays in order.
    return replace(
        table,
        first=first,
        sources=sources,
        targets=targets,
        outgoing=_adjacent(table.outgoing, moves, targets),
        incoming=_adjacent(table.incoming, moves, moves.of(table.incoming.neighbours)),
    )


def _adjacent(csr: Csr, moves: _Moves, neighbours: Array32) -> Csr:
    """The adjacency of the same rows after ``moves``, which gave it other ``neighbours``."""
    stop = csr.first + len(csr.offsets) - 1
    if stop <= moves.first:
        return Csr(csr.first, csr.offsets, neighbours, csr.rows)
    degrees = np.diff(csr.offsets)
    held = np.flatnonzero(degrees)
    places = moves.ids[csr.first + held].astype(np.int64)
    offsets = np.zeros(int(places[-1] - places[0]) + 2, dtype=np.uint32)
    offsets[places - places[0] + 1] = degrees[held]
    return Csr(int(places[0]), np.cumsum(offsets, dtype=np.uint32), neighbours, csr.rows)


def _blank(name: str) -> RelationshipTable:
    ends = np.zeros(0, dtype=np.uint32)
    return RelationshipTable(name, 0, ends, ends, csr_of_sorted(ends, ends), csr_of_sorted(ends, ends), {})


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
        new = fresh[key] if key in fresh.columns else _blanks(old, len(gone))
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


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows ``start`` … ``stop - 1`` of the old table, or of the fresh ones, that lie at ``at`` in the new table."""

    is_fresh: bool
    start: int
    stop: int
    at: int


def _exchanged(
    table: RelationshipTable, exchange: Exchange, moves: _Moves | None, first: int
) -> RelationshipTable | None:
    if not all(_is_whole(table, column) for column in table.columns.values()):
        return None
    sources, targets = (ids if moves is None else moves.of(ids) for ids in (table.sources, table.targets))
    fresh = exchange.fresh
    fresh = fresh[np.argsort(_pairs(fresh["source"].to_numpy(), fresh["target"].to_numpy()), kind="stable")]
    new_ends = [fresh[end].to_numpy().astype(np.uint32) for end in ("source", "target")]
    runs = _runs(exchange.gone.tolist(), _places(sources, targets, *new_ends), len(sources))
    new_sources, new_targets = (
        np.concatenate([ends[:0], *((new if run.is_fresh else ends)[run.start : run.stop] for run in runs)])
        for ends, new in zip((sources, targets), new_ends, strict=True)
    )
    return RelationshipTable(
        type=table.type,
        first=first,
        sources=new_sources,
        targets=new_targets,
        outgoing=csr_of_sorted(new_sources, new_targets),
        incoming=_incoming(table, exchange.gone, moves, runs, new_sources, new_targets),
        columns=_columns(table, fresh, runs) if len(exchange.gone) or fresh.height else table.columns,
    )


def _places(sources: Array32, targets: Array32, new_sources: Array32, new_targets: Array32) -> list[int]:
    """The row before which each new one goes."""
    firsts, stops = (np.searchsorted(sources, new_sources, side=side) for side in ("left", "right"))
    places: list[int] = []
    # row loop: the rows that are put in
    for first, stop, target in zip(firsts.tolist(), stops.tolist(), new_targets.tolist(), strict=True):
        places.append(first + _rank(targets[first:stop], target))
    return places


def _rank(ids: Array32, one: int) -> int:
    """How many of ``ids``, ascending, are below ``one``."""
    return int(np.searchsorted(ids, np.uint32(one)))


def _runs(gone: list[int], places: list[int], count: int) -> list[_Run]:
    """The new table of an old one of ``count`` rows, without ``gone`` and with a fresh row before each of ``places``,
    both ascending."""
    runs: list[_Run] = []
    at, next_gone = 0, 0

    def put(is_fresh: bool, start: int, stop: int) -> None:
        nonlocal at
        if start < stop:
            last = runs[-1] if runs else None
            if last and last.is_fresh == is_fresh and last.stop == start:
                runs[-1] = replace(last, stop=stop)
            else:
                runs.append(_Run(is_fresh, start, stop, at))
            at += stop - start

    start = 0
    for fresh, place in enumerate([*places, count]):  # row loop: the rows that go, and those that are put in
        while next_gone < len(gone) and gone[next_gone] < place:
            put(False, start, gone[next_gone])
            start = gone[next_gone] + 1
            next_gone += 1
        put(False, start, place)
        start = max(start, place)
        if fresh < len(places):
            put(True, fresh, fresh + 1)
    return runs


def _incoming(
    table: RelationshipTable, gone: Ids, moves: _Moves | None, runs: list[_Run], sources: Array32, targets: Array32
) -> Csr:
    """Adjacency from the new targets: what stays keeps its order, since ids and rows only move together."""
    old = table.incoming
    slots = [_slot(old, int(table.targets[row]), row) for row in gone.tolist()]  # row loop: the rows that go
    neighbours = np.delete(old.neighbours, slots)
    neighbours = neighbours if moves is None else moves.of(neighbours)
    rows = _laid_rows(np.delete(old.rows, slots), runs)
    size = int(targets.max()) + 1 if len(targets) else 0
    degrees = np.bincount(targets.astype(np.int64), minlength=size)
    added = np.array([run.at + row for run in runs if run.is_fresh for row in range(run.stop - run.start)], np.int64)
    added = added[np.argsort(targets[added], kind="stable")]
    before = np.cumsum(degrees - np.bincount(targets[added].astype(np.int64), minlength=size))
    places: list[int] = []
    # row loop: the rows that are put in
    for target, source in zip(targets[added].tolist(), sources[added].tolist(), strict=True):
        first, stop = int(before[target - 1]) if target else 0, int(before[target])
        places.append(first + _rank(neighbours[first:stop], source))
    neighbours, rows = np.insert(neighbours, places, sources[added]), np.insert(rows, places, added.astype(np.uint32))
    if not len(neighbours):
        return csr_of_sorted(neighbours, neighbours)
    lowest = int(np.flatnonzero(degrees)[0])
    offsets = np.concatenate([[0], np.cumsum(degrees[lowest:])]).astype(np.uint32)
    return Csr(lowest, offsets, neighbours, rows)


def _slot(csr: Csr, node: int, row: int) -> int:
    """Where ``row``, which leads from ``node``, is in the adjacency."""
    first, stop = csr.offsets[node - csr.first : node - csr.first + 2].tolist()
    return first + int(np.flatnonzero(csr.rows[first:stop] == row)[0])


def _laid_rows(rows: Array32, runs: list[_Run]) -> Array32:
    """Kept rows of the old table as those of the new one."""
    kept = [run for run in runs if not run.is_fresh]
    shifts = np.array([run.at - run.start for run in kept], dtype=np.int64)
    if not shifts.any():
        return rows
    if len(kept) > _FEW_RUNS:
        at = np.searchsorted(np.array([run.start for run in kept]), rows, side="right") - 1
        return (rows + shifts[at]).astype(np.uint32)
    moved = rows.astype(np.int64)
    moved += shifts[0]
    for run, change in zip(kept[1:], np.diff(shifts).tolist(), strict=True):  # row loop: the runs, a few
        moved += change * (rows >= run.start)
    return moved.astype(np.uint32)


def _columns(table: RelationshipTable, fresh: pl.DataFrame, runs: list[_Run]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for key in sorted({*table.columns, *fresh.columns} - {*_ENDS}):  # row loop: one step a property
        old = _series(table, key)
        if old is None:
            old = _blanks(fresh[key], len(table.sources))
        new = fresh[key] if key in fresh.columns else _blanks(old, fresh.height)
        series = _laid(old, new.cast(old.dtype).alias(old.name), runs)
        if series.null_count() < len(series):
            columns[key] = Column((Segment(0, series.alias(key)),))
    return columns


def _blanks(values: pl.Series, count: int) -> pl.Series:
    """As many nulls, with the type and the name of ``values``."""
    return pl.Series(values.name, [None], dtype=values.dtype).new_from_index(0, count)


def _laid(old: pl.Series, new: pl.Series, runs: list[_Run]) -> pl.Series:
    """The cells of the new table: run by run, since most rows stay in place."""
    if not runs:
        return old.clear()
    if len(runs) > _MOST_RUNS:
        starts = [np.arange(run.start, run.stop) + (len(old) if run.is_fresh else 0) for run in runs]
        return pl.concat([old, new], rechunk=True)[np.concatenate(starts)]
    # row loop: the runs, a few
    parts = [(new if run.is_fresh else old).slice(run.start, run.stop - run.start) for run in runs]
    pieced = pl.concat(parts, rechunk=False)
    return pieced if pieced.n_chunks() <= _MOST_CHUNKS else pieced.rechunk()
