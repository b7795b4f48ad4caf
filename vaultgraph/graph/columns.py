"""Property columns: typed segments over ranges of node or relationship ids, and gathering from them.

A property has one Column. It is cut into segments so that each label keeps its own type: a segment is one typed Series
over consecutive ids. Cells outside every segment are null. A segment whose cells differ in type is a variant segment: a
struct that keeps every cell's own kind, so that a number stays a number beside a text.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.frozen import frozen

Ids = npt.NDArray[np.int64]  # node or relationship ids; -1 stands for null

VARIANT: Final = pl.Struct({"kind": pl.UInt8, "number": pl.Int64, "real": pl.Float64, "text": pl.String})
"""dtype of a variant segment; `kind` holds note.records.ValueKind codes, JSON also stands for lists; 0 is null."""


@frozen
class Segment:
    """Values of the ids ``first`` … ``first + len(series) - 1``.

    ``series.dtype``: Boolean, Int64, Float64, String, Date, Datetime("us"), Datetime("us", "UTC"), a List of one of
    these, or VARIANT.
    """

    first: int
    series: pl.Series

    @property
    def stop(self) -> int:
        """One past the last id."""
        return self.first + len(self.series)

    @property
    def dtype(self) -> pl.DataType:
        """Of the series."""
        return self.series.dtype

    def filled(self, first: int, stop: int) -> int:
        """How many cells of the ids ``first`` … ``stop - 1``, all of this segment, are not null."""
        cells = self.series.slice(first - self.first, stop - first)
        return len(cells) - cells.null_count()

    def kinds(self, first: int, stop: int) -> npt.NDArray[np.uint8]:
        """Of a VARIANT segment the kinds of the cells of the ids ``first`` … ``stop - 1``, 0 for null."""
        cells = self.series.slice(first - self.first, stop - first)
        return cells.struct.field("kind").fill_null(0).to_numpy()


@frozen
class Column:
    """One property: segments sorted by ``first``, never overlapping, never empty."""

    segments: tuple[Segment, ...]


@frozen
class Gathered:
    """One typed part of a gather: ``rows`` are positions in the asked ids, ``series`` their values (same length).

    ``rows`` is None where the part answers every asked id, in order.
    """

    rows: npt.NDArray[np.int64] | None
    series: pl.Series


def gather(column: Column | None, ids: Ids) -> list[Gathered]:
    """The values of ``ids`` (any order, repeats and -1 allowed), a part for each segment touched.

    Ids outside every segment are in no part: they are null. A single segment that covers all ids answers in one part
    without a mask.
    """
    if column is None or not len(ids):
        return []
    if len(ids) == 1:
        one = int(ids[0])
        for segment in column.segments:
            if segment.first <= one < segment.stop:
                return [Gathered(None, segment.series.slice(one - segment.first, 1))]
        return []
    parts: list[Gathered] = []
    low, high = int(ids.min()), int(ids.max())
    for segment in column.segments:
        if segment.stop <= low or segment.first > high:
            continue
        if segment.first <= low and high < segment.stop:
            return [Gathered(None, _taken(segment, ids))]
        rows = np.flatnonzero((ids >= segment.first) & (ids < segment.stop))
        if len(rows):
            parts.append(Gathered(rows, _taken(segment, ids[rows])))
    return parts


def _taken(segment: Segment, ids: Ids) -> pl.Series:
    """The cells of ``ids``, all inside the segment; a run of ids is a view of the column."""
    first, count = int(ids[0]), len(ids)
    if int(ids[-1]) - first == count - 1 and bool((ids[1:] - ids[:-1] == 1).all()):
        return segment.series.slice(first - segment.first, count)
    return segment.series[(ids - segment.first).astype(np.uint32)]
