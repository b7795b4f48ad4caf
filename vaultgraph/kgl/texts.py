"""Texts that many columns share, as one column of distinct texts: in a .kgl container each lies once.

Used by kgl/arrays. A column of short texts is stored as the places of its texts, which are small numbers that mostly
rise and pack well (kgl/coding); reading it back shares the memory of the distinct ones.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

_LEAST_ROWS: Final = 64
_STEP: Final = 1 << 18  # rows that are numbered at a time: a longer step would keep other threads waiting
_MOST_MEAN_BYTES: Final = 128  # longer texts are bodies of something: rarely the same, and slow to compare
_ROOM: Final = 256


class SharedTexts:
    """The distinct texts of ``columns`` (String, by name of their section), in order of first appearance.

    Columns that are short, empty or of long texts take no part. What one column adds is filled up with empty texts to a
    multiple of 256: a new text then moves the places of few others, and the next version of a file differs little.
    ``early``: how many texts those of the columns ``first`` need, which must come first in ``columns``. ``pause`` is
    called between small steps.
    """

    def __init__(
        self,
        columns: Mapping[str, pl.Series],
        first: Collection[str] = (),
        pause: Callable[[], object] = lambda: None,
    ) -> None:
        # Numbers for each text, which is all a categorical is; half the time of joins. Which number a text gets is the
        # library's affair; which place, ours: that of its first appearance.
        kind = pl.Categorical(pl.Categories.random())
        held = pl.Series([""], dtype=pl.String).cast(kind)  # categories are forgotten with the last column of them
        place_of = np.zeros(len(held), dtype=np.uint32)  # by number, from 1; 0: not met yet
        parts = [pl.Series("text", [], dtype=pl.String)]
        self._places: dict[str, npt.NDArray[np.uint32]] = {}
        self.early = end = 0
        for name, column in columns.items():
            if not _is_worth_sharing(column):
                continue
            found, start = np.zeros(len(column), dtype=np.uint32), end
            for at in range(0, len(column), _STEP):
                pause()
                texts = column.slice(at, _STEP).alias("text")
                codes = texts.cast(kind).to_physical()
                numbers = codes.fill_null(0).to_numpy()
                place_of = np.append(place_of, np.zeros(max(int(numbers.max()) + 1 - len(place_of), 0), np.uint32))
                new = (codes.is_first_distinct() & codes.is_not_null()).arg_true()
                new = new.filter(pl.Series(place_of[numbers[new.to_numpy()]] == 0))
                place_of[numbers[new.to_numpy()]] = np.arange(end + 1, end + 1 + len(new), dtype=np.uint32)
                parts.append(texts[new])
                end += len(new)
                is_there = codes.is_not_null().to_numpy()
                found[at : at + _STEP][is_there] = place_of[numbers[is_there]] - 1
            room = -(-(end - start) // _ROOM) * _ROOM
            parts.append(pl.repeat("", start + room - end, dtype=pl.String, eager=True).alias("text"))
            end = start + room
            self.early += room if name in first else 0
            self._places[name] = found
        self.texts: pl.Series = pl.concat(parts, rechunk=False)

    def places(self, name: str) -> npt.NDArray[np.uint32] | None:
        """``uint32[n]``: where each text of the column ``name`` is, 0 for null; None where it takes no part."""
        return self._places.get(name)


def _is_worth_sharing(column: pl.Series) -> bool:
    filled = len(column) - column.null_count()
    return len(column) >= _LEAST_ROWS and filled > 0 and column.str.len_bytes().sum() <= _MOST_MEAN_BYTES * filled
