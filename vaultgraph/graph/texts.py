"""Texts as numbers, and the small steps that work with numbers instead: gathering by rows, ordering, the first of each.

A step of a build gives its distinct texts numbers once; what would be a join, a group or a sort of texts then is an
index into an array. It knows nothing about vaults.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.columns import Ids
from vaultgraph.note.alone import kept

NONE: Final = -1
_FEW: Final = 64  # rows that are taken one by one: a column of them takes longer
_FEW_TEXTS: Final = 400  # texts that are numbered one by one
_FEWEST: Final = 16  # texts that are looked up one by one
_LAST: Final = np.iinfo(np.int64).max


class Texts:
    """Distinct texts, numbered from 0 in the order in which they are first asked for."""

    __slots__ = ("_count", "_few", "_held", "_kind")

    def __init__(self) -> None:
        self._few: dict[str, int] | None = {}  # while few are asked for at a time: an edit asks a hundred times
        self._kind: pl.Categorical | None = None
        self._held: pl.Series | None = None  # categories are forgotten with the last column that has them
        self._count = 0

    def numbers(self, texts: pl.Series) -> Ids:
        """The number of each text, -1 for null; a text that was not asked for before gets the next one."""
        few = self._few
        if few is not None:
            if len(texts) <= _FEW_TEXTS:
                # row loop: a few texts
                found = [NONE if text is None else few.setdefault(text, len(few)) for text in texts.to_list()]
                self._count = len(few)
                return np.array(found, dtype=np.int64)
            known, self._few, self._count = pl.Series(list(few), dtype=pl.String), None, 0
            if len(known):
                self._many(known)
        return self._many(texts)

    def _many(self, texts: pl.Series) -> Ids:
        if self._kind is None:
            self._kind = pl.Categorical(pl.Categories.random())
        held = texts.cast(self._kind)
        numbers = numbers_of(held.to_physical())
        if len(numbers):
            self._count = max(self._count, int(numbers.max()) + 1)
        self._held = held
        return numbers

    @property
    def distinct(self) -> pl.Series:
        """Every text, by number."""
        if self._few is not None:
            return pl.Series(list(self._few), dtype=pl.String)
        if self._kind is None:
            return pl.Series([], dtype=pl.String)
        return pl.Series(np.arange(self._count, dtype=np.uint32)).cat.to(self._kind).cast(pl.String)

    def __len__(self) -> int:
        return self._count


@dataclass(frozen=True, slots=True)
class Sorted:
    """``texts`` in order, without nulls; ``rows: uint32[n]``, where each of them is."""

    texts: pl.Series
    rows: npt.NDArray[np.uint32]

    def rows_of(self, asked: pl.Series) -> tuple[Ids, Ids]:
        """Where each of the ``asked`` texts is, which are few: (row in ``asked``, row), a pair for each place."""
        if len(asked) <= _FEWEST:
            found = [(bisect_left(self.texts, text), bisect_right(self.texts, text)) for text in asked.to_list()]
            firsts, stops = np.array(found, dtype=np.int64).reshape(-1, 2).T
            return self._spread(firsts, stops)
        text = pl.col("text")
        spans = self.texts.to_frame("text").select(
            firsts=text.search_sorted(asked, side="left"), stops=text.search_sorted(asked, side="right")
        )
        return self._spread(*(numbers_of(spans[side]) for side in ("firsts", "stops")))

    def _spread(self, firsts: Ids, stops: Ids) -> tuple[Ids, Ids]:
        counts = stops - firsts
        at = np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
        return np.repeat(np.arange(len(firsts)), counts), self.rows[at].astype(np.int64)


def sorted_texts(texts: pl.Series) -> Sorted:
    """``texts`` in order: for who looks few of many up."""
    rows = texts.arg_sort(nulls_last=True).head(len(texts) - texts.null_count())
    return Sorted(texts[rows], rows.to_numpy().astype(np.uint32, copy=False))


def numbers_of(values: pl.Series) -> Ids:
    """Whole numbers below 2**53 as ``int64``, -1 for null."""
    numbers = values.to_numpy()
    if numbers.dtype.kind == "f" or numbers.dtype.kind == "O":
        reals = numbers.astype(np.float64)
        reals[np.isnan(reals)] = NONE
        return reals.astype(np.int64)
    return numbers.astype(np.int64)


def rows_of(numbers: Ids) -> pl.Series:
    """Rows to gather by, null for -1."""
    if not len(numbers) or int(numbers.min()) >= 0:
        return pl.Series(numbers.astype(np.uint32))
    if len(numbers) <= _FEW:
        return pl.Series([None if row < 0 else row for row in numbers.tolist()], dtype=pl.UInt32)
    return pl.Series(numbers).cast(pl.UInt32, strict=False)


def taken(values: pl.Series, rows: Ids) -> pl.Series:
    """``values`` at ``rows``, null for -1."""
    if not len(values):  # then every row is -1
        return pl.Series(values.name, [None], dtype=values.dtype).new_from_index(0, len(rows))
    # in one piece first, which costs nothing: out of several, texts are copied
    return values.rechunk()[rows_of(rows)]


def joined(*parts: pl.Series) -> pl.Series:
    """The values of all ``parts``, whatever they are called, as one piece without a name."""
    return pl.concat([part.alias("") for part in parts], rechunk=True)


def columns_of(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Some columns. Like the two below, without polars' threads, whose start costs more than what they share out."""
    return pl.DataFrame([frame.get_column(name) for name in names])


def rows_at(frame: pl.DataFrame, rows: Ids) -> pl.DataFrame:
    """``frame`` at ``rows``, null for -1."""
    at = rows_of(rows)
    return pl.DataFrame([column.rechunk()[at] for column in frame.iter_columns()])


def rows_where(frame: pl.DataFrame, flags: npt.NDArray[np.bool_]) -> pl.DataFrame:
    """The rows of ``frame`` with a flag."""
    if flags.all():
        return frame
    return kept(frame, pl.Series(flags))


def or_null(numbers: Ids) -> pl.Series:
    """Int64, null for what is negative."""
    series = pl.Series(numbers, dtype=pl.Int64)
    if not len(numbers) or int(numbers.min()) >= 0:
        return series
    return taken(series, np.where(numbers >= 0, np.arange(len(numbers)), NONE))


def true_or_null(flags: npt.NDArray[np.bool_]) -> pl.Series:
    """Boolean, null for what is false."""
    return taken(pl.Series([True]), np.where(flags, 0, NONE))


def order_by(*keys: npt.NDArray[np.integer[Any]]) -> Ids:
    """The stable order by whole numbers from 0, by the first key first; linear in the rows."""
    order: Ids | None = None
    for key in reversed(keys):  # row loop: one step for 16 bits of a key
        most = int(key.max()) if len(key) else 0
        for shift in range(0, max(most.bit_length(), 1), 16):
            digits = (key if not shift else key >> shift).astype(np.uint16)
            if order is None:
                order = np.argsort(digits, kind="stable")
            else:
                order = order[np.argsort(digits[order], kind="stable")]
    return np.arange(len(keys[0])) if order is None else order


def first_of(groups: Ids, places: Ids, count: int) -> Ids:
    """For each group 0 … ``count - 1`` the row with the lowest place, -1 for an empty one; places differ in a group."""
    lowest = np.full(count, _LAST, dtype=np.int64)
    np.minimum.at(lowest, groups, places)
    rows = np.flatnonzero(places == lowest[groups])
    found = np.full(count, NONE, dtype=np.int64)
    found[groups[rows]] = rows
    return found
