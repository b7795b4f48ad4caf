"""Bodies of notes that stay in the .kgl file until somebody asks for them: most of a file, and most queries need none.

Part of graph/store: what it loads has its bodies here. A file that was damaged or cut off since it was opened is
noticed when they are read: that raises CorruptKglError at a place where columns are otherwise at hand, and vault/ then
builds anew. A body is never given that the checksum does not vouch for.
"""

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.errors import CorruptKglError
from vaultgraph.graph.columns import Segment
from vaultgraph.graph.repeated_columns import OF_NOTES, Repeated, Rows
from vaultgraph.kgl.arrays import is_valid, unpack_series
from vaultgraph.kgl.reader import KglFile
from vaultgraph.note.records import NOTES, RecordTable

BODIES = "records.notes.body"


class LateBodies:
    """The column `body` of the notes of ``file``, read once, by whichever thread comes first.

    ``fault``: what was wrong with them when they were to be read, None while nothing is. ``is_filled``:
    ``bool[rows]``, which notes have a body.
    """

    def __init__(self, file: KglFile, rows: int) -> None:
        kept = (BODIES, f"{BODIES}.offsets", f"{BODIES}.valid")
        self._file: KglFile | None = file.part(name for name in kept if name in file)
        self._rows = rows
        self._series: pl.Series | None = None
        self._lock = threading.Lock()
        self.fault: str | None = None
        self.is_filled = is_valid(file, BODIES, rows)

    def series(self) -> pl.Series:
        """String, a row a note.

        Raises:
            CorruptKglError: the bodies in the file are damaged, or it was cut off or changed since it was opened.
        """
        with self._lock:
            if self._series is None:
                assert self._file is not None
                try:
                    self._series = unpack_series(self._file, BODIES, pl.String(), self._rows).alias("body")
                except CorruptKglError as error:
                    self.fault = error.message
                    raise
                self._file = None  # which closes it
            return self._series


class LateRecords(RecordTable):
    """Records whose bodies are read when `notes` is first asked for; `listing` does without.

    ``frames``: all tables by name, notes without `body`.
    """

    __slots__ = ("_bodies", "_listing")
    _bodies: LateBodies
    _listing: pl.DataFrame

    def __init__(self, frames: dict[str, pl.DataFrame], bodies: LateBodies) -> None:
        for name, frame in frames.items():
            if name != "notes":
                object.__setattr__(self, name, frame)
        object.__setattr__(self, "_listing", frames["notes"])
        object.__setattr__(self, "_bodies", bodies)

    @property
    def notes(self) -> pl.DataFrame:  # pyright: ignore[reportIncompatibleVariableOverride] -- read as a field is
        """All columns.

        Raises:
            CorruptKglError: as ``LateBodies.series``.
        """
        return self._listing.with_columns(self._bodies.series()).select(NOTES.names())

    @property
    def listing(self) -> pl.DataFrame:
        """All columns but `body`."""
        return self._listing

    @property
    def has_body(self) -> npt.NDArray[np.bool_]:
        """``bool[notes]``: which notes have a body."""
        return self._bodies.is_filled

    @property
    def fault(self) -> str | None:
        """What was wrong with the bodies when they were to be read; None while nothing is."""
        return self._bodies.fault


class NodeBodies:
    """The bodies of nodes that are notes: ``rows`` as in ``Repeated``, of the notes of ``records``."""

    def __init__(self, records: "LateRecords", rows: Rows) -> None:
        self._records = records
        self._rows = rows
        self._repeated: Repeated | None = None

    def segment(self, first: int, stop: int) -> "LateSegment":
        """The segment of the nodes ``first`` … ``stop - 1``, all of which are notes."""
        is_filled = self._records.has_body[self._rows[first:stop]]
        return LateSegment(first, is_filled, partial(self._cells, first, stop))

    def _cells(self, first: int, stop: int) -> pl.Series:
        repeated = self._repeated or Repeated(self._records.notes, self._rows, OF_NOTES)
        self._repeated = repeated
        cells = repeated.cells("body", first, stop)
        assert cells is not None
        return cells.alias("body")


class LateSegment(Segment):
    """A segment of texts that ``load`` gives when they are first asked for; ``is_filled``: which are not null."""

    __slots__ = ("_is_filled", "_load")
    _is_filled: npt.NDArray[np.bool_]
    _load: Callable[[], pl.Series]

    def __init__(self, first: int, is_filled: npt.NDArray[np.bool_], load: Callable[[], pl.Series]) -> None:
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "_is_filled", is_filled)
        object.__setattr__(self, "_load", load)

    @property
    def series(self) -> pl.Series:  # pyright: ignore[reportIncompatibleVariableOverride] -- read as a field is
        """The values.

        Raises:
            CorruptKglError: as ``LateBodies.series``.
        """
        return self._load()

    @property
    def stop(self) -> int:
        """One past the last id; known without the values."""
        return self.first + len(self._is_filled)

    @property
    def dtype(self) -> pl.DataType:
        """Texts, known without them."""
        return pl.String()

    def filled(self, first: int, stop: int) -> int:
        """As for any segment, without the texts."""
        return int(self._is_filled[first - self.first : stop - self.first].sum())


def late_fault(records: RecordTable) -> str | None:
    """Why ``records`` are of no use any more: their file was damaged before all was read. None while they are."""
    return records.fault if isinstance(records, LateRecords) else None
