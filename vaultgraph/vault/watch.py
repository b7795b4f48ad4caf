"""Watching the folder: which paths were written since the last time somebody asked.

The only user of watchfiles, whose event source is driven by a daemon thread here: fast while queries come, seldom while
nobody asks. Where there is a bell (vault/bell), it says what was written, and nobody waits. It marks paths the moment
an event arrives and never reads a file. Changes in dot folders other than `.kglite` cost nothing, and the vault's own
cache file is never an edit.
"""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Final, Literal

from watchfiles._rust_notify import RustNotify  # the documented backend: `watchfiles.watch` cannot change its pace

from vaultgraph.vault.bell import ANYTHING, CONFIGURATION, Bell

log = logging.getLogger(__name__)

BUSY_STEP_MS: Final = 1  # how often events are looked for while queries come
IDLE_STEP_MS: Final = 25  # … and while nobody asks
BUSY_S: Final = 10.0  # how long after a query the pace stays fast
BURST_MS: Final = 50  # a burst of events is handed over after this long at the latest
SETTLE_S: Final = 0.2  # a query never waits longer than this for events to come in
QUIET_S: Final = 0.3  # no event for this long: time for work in the background
RESTART_S: Final = 0.5  # between a watch that broke and the next one
HEAL_S: Final = 30.0  # between two stat passes that heal lost events

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
        self._round = threading.Condition()  # notified when a look for events has ended
        self._rounds = 0
        self._busy_until = 0.0
        self._is_lost = False  # the watch could not be set up, or broke
        self._bell: Bell | None = None
        self._thread = threading.Thread(target=self._run, name="vaultgraph-watch", daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Mark every edit made before the call.

        At once where there is a bell. Elsewhere it waits until the events that have reached this process are marked: a
        millisecond or two while queries come, IDLE_STEP_MS after a pause, SETTLE_S at the most.
        """
        if self._listen():
            return
        self._busy_until = time.monotonic() + BUSY_S
        if self._poll or self._is_lost:
            return
        with self._round:
            # The look that is going on may be past the event; the one after it is not.
            last = self._rounds + 2
            self._round.wait_for(lambda: self._rounds >= last or self._is_lost, SETTLE_S)

    @property
    def is_dirty(self) -> bool:
        """Whether anything was written since the last `take`, or nobody can tell."""
        return self._is_dirty or self._is_lost

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
        self._take_bell_down()

    def _listen(self) -> bool:
        """Mark what the bell heard; False where there is none."""
        bell = self._bell
        if bell is None:
            return False
        try:
            heard = bell.heard()
        except (OSError, ValueError):  # broken, closed, or no room for another folder
            self._take_bell_down()
            self.mark()
            return False
        if heard:
            self._mark_edits(heard)
        return True

    def _mark_edits(self, paths: set[str]) -> None:
        edits = {path for path in paths if path == ANYTHING or self._is_edit(path.split("/"))}
        if edits:
            self.mark(*(edits - {ANYTHING}))

    def _take_bell_down(self) -> None:
        bell, self._bell = self._bell, None
        if bell is not None:
            bell.close()

    def _run(self) -> None:
        """Follow the folder; a watch that breaks (on a name that is not UTF-8, say) is set up anew."""
        said = ""
        while not self._stop.is_set():
            try:
                self._follow()
            except (OSError, RuntimeError) as error:
                if said != str(error):
                    said = str(error)
                    log.warning(
                        "watching %s broke off: %s; until it goes on, each call looks itself", self._folder, said
                    )
            self._is_lost = True
            self._take_bell_down()
            with self._round:
                self._round.notify_all()
            self._stop.wait(RESTART_S)

    def _follow(self) -> None:
        folders = [str(self._folder)]
        with RustNotify(folders, False, self._poll, 300, True, True) as source:
            if not self._poll:
                self._bell = Bell.hang(self._folder)
            self.mark()  # what was written before the watch was in place needs a stat pass
            self._is_lost = False
            heal_at = time.monotonic() + HEAL_S
            quiet_at: float | None = time.monotonic() + QUIET_S
            while not self._stop.is_set():
                now = time.monotonic()
                step_ms = BUSY_STEP_MS if now < self._busy_until else IDLE_STEP_MS
                events = source.watch(BURST_MS, step_ms, step_ms, self._stop)
                if isinstance(events, set):
                    self._take_in({path for _, path in events})
                    quiet_at = now + QUIET_S
                elif events == "signal":
                    return
                with self._round:
                    self._rounds += 1
                    self._round.notify_all()
                if now >= heal_at:
                    self.mark()
                    heal_at, quiet_at = now + HEAL_S, now
                if quiet_at is not None and now >= quiet_at:
                    quiet_at = None
                    self._on_quiet()

    def _take_in(self, paths: set[str]) -> None:
        if self._listen():
            return  # it was marked, with this event or before
        inside = {path for path in map(self._relative, paths) if path is not None}
        self._mark_edits({ANYTHING if path == "." else path for path in inside})

    def _relative(self, path: str) -> str | None:
        try:
            return PurePath(path).relative_to(self._folder).as_posix()
        except ValueError:
            return None

    @staticmethod
    def _is_edit(parts: list[str]) -> bool:
        """Whether a written path, in parts, can change an answer."""
        if parts[0] != CONFIGURATION:
            return not any(part.startswith(".") for part in parts)
        if parts[1:] in ([], ["skills"], ["recipes"]):  # a folder as a whole came or went, with what is in it
            return True
        return parts[-1].endswith((".yaml", ".md")) and not parts[-1].startswith(".")
