"""Texts that many columns share, as one column of distinct texts: in a .kgl container each lies once.

Used by kgl/arrays. A column of short texts is stored as the places of its texts, which are small numbers that mostly
rise and pack well (kgl/coding); reading it back shares the memory of the distinct ones.
"""

from collections.abc import Collection, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

_LEAST_ROWS: Final = 64
_MOST_MEAN_BYTES: Final = 128  # longer texts are bodies of something: rarely the same, and slow to compare
_ROOM: Final = 256


class SharedTexts:
    """The distinct texts of ``columns`` (String, by name of their section), in order of first appearance.

    Columns that are short, empty or of long texts take no part. What one column adds is filled up with empty texts to a
    multiple of 256: a new text then moves the places of few others, and the next version of a file differs little.
    ``early``: how many texts those of the columns ``first`` need, which must come first in ``columns``.
    """

    def __init__(self, columns: Mapping[str, pl.Series], first: Collection[str] = ()) -> None:
        chosen = {name: column.alias("text") for name, column in columns.items() if _is_worth_sharing(column)}
        nothing = pl.Series("text", [], dtype=pl.String)
        every = pl.concat([nothing, *chosen.values()], rechunk=False)
        # Numbers of our own making for each text, which is all a categorical is; half the time of joins.
        codes = every.cast(pl.Categorical(pl.Categories.random())).to_physical()
        is_first = codes.is_first_distinct() & codes.is_not_null()
        ends = np.cumsum([len(column) for column in chosen.values()], dtype=np.int64)
        new = np.diff(np.searchsorted(np.flatnonzero(is_first.to_numpy()), ends), prepend=0)
        room = -(-new // _ROOM) * _ROOM
        self.early = int(sum(size for name, size in zip(chosen, room.tolist(), strict=True) if name in first))
        self.texts: pl.Series = _filled_up(every.filter(is_first), new.tolist(), room.tolist())
        # Which number a text gets is the library's affair; which place, ours: that of its first appearance.
        numbers = codes.fill_null(0).to_numpy()
        ranks = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.uint32)
        places = np.arange(int(new.sum()), dtype=np.int64) + np.repeat(np.cumsum(room - new) - (room - new), new)
        ranks[codes.filter(is_first).to_numpy()] = places.astype(np.uint32)
        found = ranks[numbers]
        found[codes.is_null().to_numpy()] = 0
        self._places = dict(zip(chosen, np.split(found, ends[:-1]), strict=True)) if chosen else {}

    def places(self, name: str) -> npt.NDArray[np.uint32] | None:
        """``uint32[n]``: where each text of the column ``name`` is, 0 for null; None where it takes no part."""
        return self._places.get(name)


def _filled_up(texts: pl.Series, sizes: list[int], room: list[int]) -> pl.Series:
    """``texts``, cut into parts of ``sizes``, each followed by empty ones up to its ``room``."""
    parts, start = [texts.clear()], 0
    for size, whole in zip(sizes, room, strict=True):
        parts += [texts.slice(start, size), pl.repeat("", whole - size, dtype=pl.String, eager=True)]
        start += size
    return pl.concat([part.alias("text") for part in parts], rechunk=False)


def _is_worth_sharing(column: pl.Series) -> bool:
    filled = len(column) - column.null_count()
    return len(column) >= _LEAST_ROWS and filled > 0 and column.str.len_bytes().sum() <= _MOST_MEAN_BYTES * filled
