"""Parsing what was read from disk, batch by batch, on both cores.

Used by `refresh` when there are files to read. Says how many files are a batch, and parses batches in a thread of its
own and the caller's. No file is opened here.
"""

import math
import sys
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

import polars as pl

from vaultgraph.note.records import RecordTable, content_hash
from vaultgraph.profile.settings import Reading
from vaultgraph.vault.footprint import trim

BATCH_BYTES: Final = 8_000_000  # one parse batch: bounds the memory of a first build, keeps the columns long
_FEW_BYTES: Final = 2_000_000  # one batch for less than two of these
_BATCHES: Final = 2  # at least, of a vault of some size: a further one costs more than it shares out
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


@dataclass(slots=True)
class Batch:
    """Files to parse: their paths, Binary contents and content hashes; ``unread``, the paths of those without one."""

    paths: list[str]
    contents: pl.Series
    hashes: list[bytes]
    unread: list[str]

    def taken(self) -> pl.Series:
        """The contents, which are held here no longer."""
        contents, self.contents = self.contents, self.contents.clear()
        return contents


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


def parse_batches(
    reading: Reading, cuts: Sequence[tuple[int, int]], read: Callable[[int, int], Batch]
) -> list[RecordTable]:
    """What the files of all ``cuts`` state, in this order, but those of which ``read`` gives none.

    Several are parsed in a thread of its own and in the caller's. One of them reads files while the other parses:
    each question to the system lets the other thread on, so that two that ask hinder each other. Much of parsing is
    column work, in which threads do not wait for each other. The interpreter changes threads more often meanwhile: at
    its usual pace, one thread's column work would wait for long stretches of the other's.
    """
    parts: dict[int, RecordTable] = {}
    left, turn = deque(cuts), Lock()

    def work() -> None:
        try:
            while True:
                with turn:
                    if not left:
                        return
                    cut = left.popleft()
                    batch = read(*cut)
                if batch.paths:
                    parts[cut[0]] = _parse(reading, batch)
                del batch  # else it would be held while the next one is read
        finally:
            left.clear()  # after a failure, nothing more is begun

    if len(cuts) > 1:
        with _second_thread() as pool:
            beside = pool.submit(work)
            work()
            beside.result()
        if len(cuts) > _BATCHES:
            trim()
    else:
        work()
    return [parts[first] for first in sorted(parts)]


@contextmanager
def _second_thread() -> Generator[ThreadPoolExecutor]:
    interval_s = sys.getswitchinterval()
    with ThreadPoolExecutor(1, "parse") as pool:
        sys.setswitchinterval(min(interval_s, _SWITCH_S))
        try:
            yield pool
        finally:
            sys.setswitchinterval(interval_s)


def _parse(reading: Reading, batch: Batch) -> RecordTable:
    from vaultgraph.note.read import read_notes  # noqa: PLC0415 -- a start from an unchanged cache reads no note

    part = read_notes(batch.paths, batch.taken(), reading, batch.hashes)
    return _without_content(part, batch.unread) if batch.unread else part


def _without_content(records: RecordTable, paths: list[str]) -> RecordTable:
    """The records with no body and no content hash for ``paths``: they are read as soon as that is possible."""
    is_unread = pl.col("path").is_in(paths)
    notes = records.notes.with_columns(
        body=pl.when(is_unread).then(None).otherwise(pl.col("body")),
        hash=pl.when(is_unread).then(pl.lit(b"")).otherwise(pl.col("hash")),
    )
    return replace(records, notes=notes)
