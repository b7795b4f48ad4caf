"""Parsing what was read from disk, batch by batch, on both cores.

Used by `refresh` when there are files to read. Says how many files are a batch, and parses batches in a thread of its
own and the caller's. No file is opened here.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, Self

import polars as pl

from vaultgraph.note.records import RecordTable, content_hash
from vaultgraph.profile.settings import Reading

BATCH_BYTES: Final = 8_000_000  # one parse batch: bounds the memory of a first build, keeps the columns long
_FEW_BYTES: Final = 2_000_000  # one batch for less than two of these
_BATCHES: Final = 2  # at least, of a vault of some size: a further one costs more than it shares out
_MOST_OPEN: Final = 3  # batches that are held in memory at the same time
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


@dataclass(frozen=True, slots=True)
class Batch:
    """Files to parse: their paths, Binary contents and content hashes; ``unread``, the paths of those without one."""

    paths: list[str]
    contents: pl.Series
    hashes: list[bytes]
    unread: list[str]


def changed_of(paths: Sequence[str], contents: Sequence[bytes | None], hashes: Mapping[str, bytes]) -> Batch:
    """Those of ``paths`` whose content is not that of ``hashes``. None for what cannot be read: that is a note all the
    same, but one that was read before keeps its record."""
    changed: list[tuple[str, bytes, bytes]] = []
    # row loop: the files that were read
    for path, data in zip(paths, contents, strict=True):
        if data is not None:
            own_hash = content_hash(data)
            if hashes.get(path) != own_hash:
                changed.append((path, data, own_hash))
        elif path not in hashes:
            changed.append((path, b"", b""))
    column = pl.Series([data for _, data, _ in changed], dtype=pl.Binary)
    unread = [path for path, _, own_hash in changed if not own_hash]
    return Batch([path for path, *_ in changed], column, [own_hash for *_, own_hash in changed], unread)


class Parser:
    """Parses batches in a thread of its own while the next ones are read from disk, and in the caller's where they come
    faster than that thread gets them done; a lone batch only there.

    Much of parsing is column work, in which threads do not wait for each other. The interpreter changes threads more
    often meanwhile: at its usual pace, one thread's column work would wait for long stretches of the other's.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._results: list[Future[RecordTable]] = []
        self._open: list[tuple[int, Batch]] = []  # batches that are not done, by their place
        self._pool: ThreadPoolExecutor | None = None
        self._interval_s = sys.getswitchinterval()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            if self._interval_s > _SWITCH_S:
                sys.setswitchinterval(self._interval_s)

    def add(self, batch: Batch, *, is_only: bool) -> None:
        """Take one batch."""
        if is_only:
            self._results.append(_finished(_parse(self._reading, batch)))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, "parse")
            if self._interval_s > _SWITCH_S:
                sys.setswitchinterval(_SWITCH_S)
        self._open = [(place, other) for place, other in self._open if not self._results[place].done()]
        self._open.append((len(self._results), batch))
        self._results.append(self._pool.submit(_parse, self._reading, batch))
        if len(self._open) == _MOST_OPEN:
            self._parse_last()

    def parts(self) -> list[RecordTable]:
        """What the batches state, in the order they were taken."""
        while self._open:
            self._parse_last()
        return [result.result() for result in self._results]

    def _parse_last(self) -> None:
        """Parse the last open batch here, unless the other thread has begun it."""
        place, batch = self._open.pop()
        if self._results[place].cancel():
            self._results[place] = _finished(_parse(self._reading, batch))


def _finished(part: RecordTable) -> Future[RecordTable]:
    future: Future[RecordTable] = Future()
    future.set_result(part)
    return future


def _parse(reading: Reading, batch: Batch) -> RecordTable:
    from vaultgraph.note.read import read_notes  # noqa: PLC0415 -- a start from an unchanged cache reads no note

    part = read_notes(batch.paths, batch.contents, reading, batch.hashes)
    return _without_content(part, batch.unread) if batch.unread else part


def _without_content(records: RecordTable, paths: list[str]) -> RecordTable:
    """The records with no body and no content hash for ``paths``: they are read as soon as that is possible."""
    is_unread = pl.col("path").is_in(paths)
    notes = records.notes.with_columns(
        body=pl.when(is_unread).then(None).otherwise(pl.col("body")),
        hash=pl.when(is_unread).then(pl.lit(b"")).otherwise(pl.col("hash")),
    )
    return replace(records, notes=notes)
