"""Texts that many columns share, as one column of distinct texts: in a .kgl container each lies once.

Used by kgl/arrays. A column of short texts is stored as the places of its texts, which are small numbers that mostly
rise and pack well (kgl/coding); reading it back shares the memory of the distinct ones.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

_LEAST_ROWS: Final = 64
_MOST_MEAN_BYTES: Final = 128  # longer texts are bodies of something: rarely the same, and slow to compare


class SharedTexts:
    """The distinct texts of ``columns`` (String, by name of their section), in order of first appearance.

    Columns that are short, empty or of long texts take no part.
    """

    def __init__(self, columns: Mapping[str, pl.Series]) -> None:
        self._names = {name for name, column in columns.items() if _is_worth_sharing(column)}
        chosen = [column for name, column in columns.items() if name in self._names]
        distinct = [column.drop_nulls().unique(maintain_order=True).alias("text") for column in chosen]
        nothing = pl.Series("text", [], dtype=pl.String)
        self.texts: pl.Series = pl.concat([nothing, *distinct]).unique(maintain_order=True)
        self._places = self.texts.to_frame().with_row_index("place") if chosen else None

    def places(self, name: str, column: pl.Series) -> npt.NDArray[np.uint32] | None:
        """``uint32[n]``: where each text of the column ``name`` is, 0 for null; None where it takes no part."""
        if name not in self._names or self._places is None:
            return None
        asked = column.alias("text").to_frame()
        found = asked.join(self._places, on="text", how="left", maintain_order="left")["place"]
        return found.fill_null(0).to_numpy()


def _is_worth_sharing(column: pl.Series) -> bool:
    filled = len(column) - column.null_count()
    return len(column) >= _LEAST_ROWS and filled > 0 and column.str.len_bytes().sum() <= _MOST_MEAN_BYTES * filled
