"""The thread that keeps a watched vault ready between calls, and its pace: when it refreshes, prepares and saves.

Run by vault/vault, which says what each chore is. Nothing here knows notes, graphs or files.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from vaultgraph.errors import VaultgraphError
from vaultgraph.frozen import frozen

REST: Final = 20  # after the cache was written, edits wait so many times as long as that took for the next time
BUSY_S: Final = 5.0  # while another server writes the cache, it is tried again so often
READY_S: Final = 1.0  # after a start from the cache, before the next edit is prepared for …
SOON_S: Final = 0.2  # … and after the first question: until then the start needs the processor itself
STOP_S: Final = 10.0  # the most that stopping waits for a chore to end


@frozen
class Chores:
    """What there is to do, each safe to call from another thread at any time.

    ``is_saved``: nothing would be written. ``is_prepared``: an edit would be taken in at once; ``prepare`` sees to
    that. ``refresh`` takes in what was written and may raise VaultgraphError, ``save`` writes the cache.
    """

    is_saved: Callable[[], bool]
    is_prepared: Callable[[], bool]
    prepare: Callable[[], object]
    refresh: Callable[[], object]
    save: Callable[[], object]


class Background:
    """Does the ``chores`` when edits have paused, so that the next call finds its answer ready."""

    def __init__(self, chores: Chores) -> None:
        self._chores = chores
        self._work = threading.Event()
        self._rests_until = 0.0  # on the monotonic clock: no saving before
        self._ready_s = READY_S
        self.is_stopping = False
        self._thread = threading.Thread(target=self._run, name="vaultgraph-background", daemon=True)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def wake(self) -> None:
        """Say that there is something to do."""
        self._work.set()

    def asked(self) -> None:
        """Say that somebody works with the vault by now: what comes next may be an edit."""
        if self._ready_s != SOON_S:
            self._ready_s = SOON_S
            self._work.set()

    def stop(self) -> None:
        """Let the chore that goes on end, wait for that, and do no other."""
        self.is_stopping = True
        self._work.set()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    def _run(self) -> None:
        chores = self._chores
        while not self.is_stopping:
            is_saved = chores.is_saved()
            ready_s = None if chores.is_prepared() else self._ready_s
            woken = self._work.wait(ready_s if is_saved else max(BUSY_S, self._rests_until - time.monotonic()))
            self._work.clear()
            if self.is_stopping:
                return
            if is_saved and not woken:
                chores.prepare()
            try:
                chores.refresh()
            except VaultgraphError:
                continue  # the next call reports it
            if (began := time.monotonic()) >= self._rests_until:
                chores.save()
                self._rests_until = time.monotonic() + REST * (time.monotonic() - began)
