"""Watching the folder: which paths were written since the last time somebody asked.

The only user of watchfiles. A daemon thread marks paths the moment an event arrives; it never reads a file. Changes in
dot folders other than `.kglite` cost nothing, and the vault's own cache file is never an edit.
"""

import logging
import threading
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Final, Literal

from watchfiles import Change, watch

log = logging.getLogger(__name__)

STEP_MS: Final = 10  # a burst is handed over once nothing new came for this long
BURST_MS: Final = 50  # … or after this long at the latest
TICK_MS: Final = 20  # the watcher wakes this often without events
QUIET_TICKS: Final = 15  # about 0.3 s without an event: time for work in the background
HEAL_TICKS: Final = 1500  # about 30 s of ticks between two stat passes that heal lost events

WatchMode = Literal["auto", "poll", "off"]


class Watcher:
    """Collects written paths until they are taken.

    ``on_quiet`` is called in the watcher's thread once after events have paused; it must only signal, never work.
    """

    def __init__(self, folder: Path, on_quiet: Callable[[], None], *, poll: bool = False) -> None:
        self._folder = folder
        self._on_quiet = on_quiet
        self._poll = poll
        self._lock = threading.Lock()
        self._touched: set[str] = set()
        self._is_dirty = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vaultgraph-watch", daemon=True)
        self._thread.start()

    @property
    def is_dirty(self) -> bool:
        """Whether anything was written since the last `take`."""
        return self._is_dirty

    def mark(self, *paths: str) -> None:
        """Mark paths as written; without any, ask for a stat pass."""
        with self._lock:
            self._touched.update(paths)
            self._is_dirty = True

    def take(self) -> set[str] | None:
        """The written paths since the last call, vault-relative; None where nothing happened."""
        if not self._is_dirty:
            return None
        with self._lock:
            touched, self._touched, self._is_dirty = self._touched, set(), False
            return touched

    def stop(self) -> None:
        """Stop watching; returns when the thread has ended, or after two seconds."""
        self._stop.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        try:
            self._follow()
        except (OSError, RuntimeError) as error:
            log.warning("watching %s stopped: %s; rebuild_graph or a restart finds later changes", self._folder, error)
            self.mark()

    def _follow(self) -> None:
        batches = watch(
            self._folder,
            watch_filter=self._is_edit,
            debounce=BURST_MS,
            step=STEP_MS,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
            force_polling=True if self._poll else None,
            recursive=True,
        )
        ticks, quiet = 0, -1
        for batch in batches:
            if batch:
                self.mark(*(self._relative(path) for _, path in batch))
                quiet = 0
                continue
            if ticks % HEAL_TICKS == 0:
                # The first tick says that the watch is in place: what was written before it needs a stat pass.
                self.mark()
                quiet = 0
            ticks += 1
            quiet += quiet >= 0
            if quiet == QUIET_TICKS:
                quiet = -1
                self._on_quiet()

    def _relative(self, path: str) -> str:
        return PurePath(path).relative_to(self._folder).as_posix()

    def _is_edit(self, _change: Change, path: str) -> bool:
        try:
            parts = PurePath(path).relative_to(self._folder).parts
        except ValueError:
            return False
        if not parts:
            return True
        if parts[0] == ".kglite":
            return parts[-1].endswith((".yaml", ".md")) and not parts[-1].startswith(".")
        return not any(part.startswith(".") for part in parts)
