"""What of a .kgl file is read when it is first asked for: most queries need a small part of a vault's cache.

Part of graph/store. A file that was damaged or cut off since it was opened, or that says what cannot be, is noticed
then: that raises CorruptKglError at a place where columns are otherwise at hand, and vault/ builds anew. Nothing is
handed out before its checksum was compared and its content checked.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.exceptions import PanicException

from vaultgraph.errors import CorruptKglError
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Segment

Value = TypeVar("Value")


class LateReads:
    """All that waits to be read of one file, read by one thread at a time.

    ``fault``: what was wrong with the first that could not be read, None while nothing is.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._waiting: list[weakref.ref[Late[Any]]] = []  # what nobody asks for any more goes, and its file with it
        self.fault: str | None = None

    def late(self, make: Callable[[], Value], *, by_itself: bool = False) -> "Late[Value]":
        """What ``make`` gives, when it is first asked for; ``by_itself``: ``read_all`` leaves it where it is."""
        found = Late(self, make)
        if not by_itself:
            self._waiting.append(weakref.ref(found))
        return found

    def read_all(self) -> None:
        """Read what waits, so that the file is needed no more.

        Raises:
            CorruptKglError: the file is damaged, or was cut off or changed since it was opened.
        """
        with self._lock:
            for waiting in self._waiting:
                if (one := waiting()) is not None:
                    one()
            self._waiting.clear()

    def fill(self, one: "Late[Value]") -> None:
        """Make the value of ``one``, unless another thread did meanwhile."""
        with self._lock:
            if one.make is None:
                return
            try:
                one.value = one.make()
                one.make = None  # which lets go of the file
            except CorruptKglError as error:
                self.fault = self.fault or error.message
                raise
            except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as reason:
                raise self._damaged("its description is malformed") from reason
            except (MemoryError, PanicException) as reason:
                raise self._damaged(f"{type(reason).__name__} while reading it") from reason

    def _damaged(self, what: str) -> CorruptKglError:
        error = CorruptKglError(f"{self._path}: damaged ({what}).")
        self.fault = self.fault or error.message
        return error


class Late(Generic[Value]):
    """A value that is made when it is first asked for, by calling this; ``make`` is None once it is there."""

    __slots__ = ("__weakref__", "_reads", "make", "value")

    def __init__(self, reads: LateReads, make: Callable[[], Value]) -> None:
        self._reads = reads
        self.make: Callable[[], Value] | None = make
        self.value: Value

    def __call__(self) -> Value:
        """The value.

        Raises:
            CorruptKglError: the file is damaged, or was cut off or changed since it was opened.
        """
        if self.make is not None:
            self._reads.fill(self)
        return self.value


@frozen
class Known:
    """What is known of cells without reading them, each by the positions (first, one past the last) in a segment.

    ``filled``: how many are not null; ``kinds``: of a VARIANT segment their kinds, 0 for null.
    """

    filled: Callable[[int, int], int] | None = None
    kinds: Callable[[int, int], npt.NDArray[np.uint8]] | None = None


class LateSegment(Segment):
    """A segment of ``length`` cells that ``load`` gives when they are first asked for."""

    __slots__ = ("_dtype", "_known", "_length", "_load")
    _dtype: pl.DataType
    _known: Known
    _length: int
    _load: Callable[[], pl.Series]

    def __init__(
        self, first: int, length: int, dtype: pl.DataType, load: Callable[[], pl.Series], known: Known
    ) -> None:
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "_length", length)
        object.__setattr__(self, "_dtype", dtype)
        object.__setattr__(self, "_load", load)
        object.__setattr__(self, "_known", known)

    def __getattr__(self, name: str) -> pl.Series:
        """``series``, as long as it was not asked for; afterwards it is a field like any other.

        Raises:
            CorruptKglError: as ``Late``.
        """
        if name != "series":
            raise AttributeError(name)
        series = self._load()
        object.__setattr__(self, "series", series)
        return series

    @property
    def is_read(self) -> bool:
        """Whether the cells are at hand."""
        try:
            object.__getattribute__(self, "series")
        except AttributeError:
            return False
        return True

    def loading(self, load: Callable[[], pl.Series]) -> "LateSegment":
        """A segment of other cells, of which the same ones are null."""
        return LateSegment(self.first, self._length, self._dtype, load, self._known)

    @property
    def stop(self) -> int:
        """One past the last id; known without the cells."""
        return self.first + self._length

    @property
    def dtype(self) -> pl.DataType:
        """Known without the cells."""
        return self._dtype

    def filled(self, first: int, stop: int) -> int:
        """As for any segment, where possible without the cells."""
        count = self._known.filled
        return super().filled(first, stop) if count is None else count(first - self.first, stop - self.first)

    def kinds(self, first: int, stop: int) -> npt.NDArray[np.uint8]:
        """As for any segment, where possible without the cells."""
        found = self._known.kinds
        return super().kinds(first, stop) if found is None else found(first - self.first, stop - self.first)
