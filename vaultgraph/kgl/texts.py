"""Texts that many columns share, as one column of distinct texts: in a .kgl container each lies once.

Used by kgl/arrays. A column of short texts is stored as the places of its texts, which are small numbers that mostly
rise and pack well (kgl/coding); reading it back shares the memory of the distinct ones.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

_BATCH_ROWS: Final = 200_000
_LEAST_ROWS: Final = 64
_MOST_MEAN_BYTES: Final = 128  # longer texts are bodies of something: rarely the same, and slow to compare


class SharedTexts:
    """The distinct texts of ``columns`` (String, by name of their section), in order of first appearance.

    Columns that are short, empty or of long texts take no part.
    """

    def __init__(self, columns: Mapping[str, pl.Series]) -> None:
        chosen = {name: column for name, column in columns.items() if _is_worth_sharing(column)}
        distinct = [column.drop_nulls().unique(maintain_order=True).alias("text") for column in chosen.values()]
        nothing = pl.Series("text", [], dtype=pl.String)
        self.texts: pl.Series = pl.concat([nothing, *distinct]).unique(maintain_order=True)
        self._places: dict[str, npt.NDArray[np.uint32]] = {}
        known = self.texts.to_frame().with_row_index("place")
        batch: dict[str, pl.Series] = {}
        for name, column in chosen.items():
            batch[name] = column
            if sum(map(len, batch.values())) > _BATCH_ROWS:
                self._find(batch, known)
                batch = {}
        self._find(batch, known)

    def places(self, name: str) -> npt.NDArray[np.uint32] | None:
        """``uint32[n]``: where each text of the column ``name`` is, 0 for null; None where it takes no part."""
        return self._places.get(name)

    def _find(self, batch: Mapping[str, pl.Series], known: pl.DataFrame) -> None:
        """The places of many columns at once: a join for each would index all texts each time."""
        if not batch:
            return
        asked = pl.concat([column.alias("text") for column in batch.values()]).to_frame()
        found = asked.join(known, on="text", how="left", maintain_order="left")["place"].fill_null(0).to_numpy()
        first = 0
        for name, column in batch.items():
            self._places[name] = found[first : first + len(column)]
            first += len(column)


def _is_worth_sharing(column: pl.Series) -> bool:
    filled = len(column) - column.null_count()
    return len(column) >= _LEAST_ROWS and filled > 0 and column.str.len_bytes().sum() <= _MOST_MEAN_BYTES * filled
