"""What did not fit into a reply, kept for `expand_response`: bounded in number, bytes and time.

One store a session. It holds results by reference and never re-runs anything; what was evicted is said to be gone.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Protocol

from vaultgraph.errors import ParameterError
from vaultgraph.serve.answers import Answer

KEEP_S: Final = 600.0
MOST_RESULTS: Final = 32
MOST_SHARED_RESULTS: Final = 256
MOST_BYTES: Final = 32 * 1024 * 1024


Keep = Callable[[int], str | None]
"""Told where the next part begins, gives the id the result is kept under; None where it is too large to keep."""


class Pages(Protocol):
    """A result that can be read in parts."""

    @property
    def size_bytes(self) -> int:
        """About how much memory it holds, a graph aside."""
        ...

    @property
    def generation(self) -> int | None:
        """The generation whose graph it holds on to; None for none."""
        ...

    def page(self, offset: int, most_bytes: int, keep: "Keep") -> Answer:
        """The part from ``offset`` that fits, with the call for the next one.

        ``keep`` is called only where something is left over.

        Raises:
            ParameterError: ``offset`` is outside the result.
        """
        ...


@dataclass(slots=True)
class _Kept:
    pages: Pages
    until: float
    offset: int | None  # where the next part begins; None after the last one


class ResultStore:
    """Results by id r1, r2, …; the least recently used go first. Safe to use from several threads.

    ``is_shared``: several clients use it, so ids cannot be guessed and more results are kept, in the same memory.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, is_shared: bool = False) -> None:
        self._clock = clock
        self._is_shared = is_shared
        self._most = MOST_SHARED_RESULTS if is_shared else MOST_RESULTS
        self._lock = Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._count = 0

    def answer(self, pages: Pages, most_bytes: int) -> Answer:
        """The first part of a result; it is kept where that is not all."""
        return pages.page(0, most_bytes, lambda stop: self._keep(pages, stop))

    def more(self, result_id: str, offset: int | None, most_bytes: int) -> Answer:
        """A later part of a kept result; with ``offset`` None the one after the part that was delivered last.

        Raises:
            ParameterError: the result is not kept (any more), ``offset`` is outside it, or all of it was delivered.
        """
        kept = self._get(result_id)
        start = kept.offset if offset is None else offset
        if start is None:
            raise ParameterError(
                f"All parts of `{result_id}` were delivered; offset=0 gives the first one again.",
                {"name": "offset", "reason": "outside"},
            )
        following: list[int] = []

        def keep(stop: int) -> str:
            following.append(stop)
            return result_id

        answer = kept.pages.page(start, most_bytes, keep)
        kept.offset = following[0] if following else None
        return answer

    def _keep(self, pages: Pages, offset: int) -> str | None:
        if pages.size_bytes > MOST_BYTES:
            return None
        with self._lock:
            now = self._clock()
            self._count += 1
            result_id = f"r{self._count}"
            if self._is_shared:
                result_id = f"r{secrets.token_hex(8)}"
            self._kept[result_id] = _Kept(pages, now + KEEP_S, offset)
            for gone in [key for key, kept in self._kept.items() if kept.until <= now or _is_old(kept, pages)]:
                del self._kept[gone]
            while len(self._kept) > self._most or self._total() > MOST_BYTES:
                self._kept.popitem(last=False)
        return result_id

    def _get(self, result_id: str) -> _Kept:
        with self._lock:
            now = self._clock()
            kept = self._kept.get(result_id)
            if kept is not None and kept.until > now:
                kept.until = now + KEEP_S
                self._kept.move_to_end(result_id)
                return kept
            here = ", ".join(key for key, other in self._kept.items() if other.until > now)
        listed = "" if self._is_shared else f" Kept now: {here or 'none'}."
        raise ParameterError(
            f"There is no result `{result_id}` (any more): results are kept 10 minutes, the last {self._most} of "
            f"them. Call the first operation again.{listed}",
            {"name": "result_id", "reason": "gone"},
        )

    def _total(self) -> int:
        return sum(kept.pages.size_bytes for kept in self._kept.values())


def _is_old(kept: _Kept, newest: Pages) -> bool:
    """Whether a result holds on to a graph older than the one before the newest: a graph is larger than any result."""
    generation = kept.pages.generation
    return generation is not None and newest.generation is not None and generation < newest.generation - 1
