"""Parsing what was read from disk, batch by batch, on both cores.

Used by `refresh` when there are files to read. Says how many files are a batch, and
parses batches in threads of its own. No file is opened here.
"""

import math
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Final, Self

import polars as pl

from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Reading

BATCH_BYTES: Final = 8_000_000  # one parse batch: bounds the memory of a first build, keeps the columns long
_FEW_BYTES: Final = 2_000_000  # one batch for less than two of these
_BATCHES: Final = 4  # at least, of a vault of some size: so that threads do not wait for each other at the end
_THREADS: Final = 2
_SWITCH_S: Final = 0.0002


def batches_of(sizes: list[int]) -> list[tuple[int, int]]:
    """Runs of files (first, stop) of about the same bytes, at most BATCH_BYTES together, a larger file alone; several
    where that is worth another thread."""
    whole = sum(sizes)
    goal = max(whole, 1) / max(min(_BATCHES, whole // _FEW_BYTES), math.ceil(whole / BATCH_BYTES), 1)
    cuts: list[tuple[int, int]] = []
    first, total = 0, 0
    for index, size in enumerate(sizes):
        if index > first and (total >= goal or total + size > BATCH_BYTES):
            cuts.append((first, index))
            first, total = index, 0
        total += size
    return [*cuts, (first, len(sizes))] if sizes else []


class Parser:
    """Parses batches in two threads while the next ones are read from disk; a lone batch in the caller's own.

    Most of parsing is column work, in which threads do not wait for each other. The interpreter changes threads more
    often meanwhile: at its usual pace, one thread's column work would wait for long stretches of the other's.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._parts: list[RecordTable] = []
        self._pending: list[Future[RecordTable]] = []
        self._pool: ThreadPoolExecutor | None = None
        self._interval_s = sys.getswitchinterval()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            if self._interval_s > _SWITCH_S:
                sys.setswitchinterval(self._interval_s)

    def add(self, changed: list[tuple[str, bytes]], unread: list[str], *, is_only: bool) -> None:
        """Take one batch, path and bytes of each file, ``unread`` the paths of those without content."""
        if is_only:
            self._parts.append(_parse(self._reading, changed, unread))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, "parse")
            if self._interval_s > _SWITCH_S:
                sys.setswitchinterval(_SWITCH_S)
        if len(self._pending) > _THREADS:
            self._pending[-_THREADS - 1].result()  # bounds what is held in memory
        self._pending.append(self._pool.submit(_parse, self._reading, changed, unread))

    def parts(self) -> list[RecordTable]:
        """What the batches state, in the order they were taken."""
        return [*self._parts, *(pending.result() for pending in self._pending)]


def _parse(reading: Reading, changed: list[tuple[str, bytes]], unread: list[str]) -> RecordTable:
    from vaultgraph.note.read import read_notes  # noqa: PLC0415 -- a start from an unchanged cache reads no note

    part = read_notes([path for path, _ in changed], [data for _, data in changed], reading)
    return _without_content(part, unread) if unread else part


def _without_content(records: RecordTable, paths: list[str]) -> RecordTable:
    """The records with no body and no content hash for ``paths``: they are read as soon as that is possible."""
    is_unread = pl.col("path").is_in(paths)
    notes = records.notes.with_columns(
        body=pl.when(is_unread).then(None).otherwise(pl.col("body")),
        hash=pl.when(is_unread).then(pl.lit(b"")).otherwise(pl.col("hash")),
    )
    return replace(records, notes=notes)
