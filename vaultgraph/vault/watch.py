"""Watching the folder: which paths were written since the last time somebody asked.

The only user of watchfiles. A daemon thread marks paths and never reads a file. On Linux it sleeps on the bell
(vault/bell), and a query that starts asks the bell itself: nobody waits. Elsewhere it drives watchfiles' event source,
fast while queries come, and a query waits until a file of our own, made when it starts, comes back as an event. With
``poll`` there are no events: a query looks at the whole folder.
Changes in dot folders other than `.kglite` cost nothing, and the vault's own cache file is never an edit.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, Literal

from vaultgraph.files.walk import PRUNED_NAMES
from vaultgraph.vault.bell import ANYTHING, CONFIGURATION, Bell

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

log = logging.getLogger(__name__)

BUSY_STEP_MS: Final = 1  # how often events are looked for while queries come
IDLE_STEP_MS: Final = 25  # … and while nobody asks
BUSY_S: Final = 10.0  # how long after a query the pace stays fast
BURST_MS: Final = 50  # a burst of events is handed over after this long at the latest
SETTLE_S: Final = 0.2  # a query never waits longer than this for events to come in: then it looks itself
QUIET_S: Final = 0.3  # no event for this long: time for work in the background
RESTART_S: Final = 0.5  # between a watch that broke and the next one; each one that breaks too waits twice as long
HEAL_S: Final = 30.0  # between two stat passes that heal lost events
POLL_S: Final = 0.3  # without events: the least time between two looks that queries take
POLL_REST: Final = 4  # … and how much longer than the last look took
POLL_IDLE_S: Final = 5.0  # … and the time between two looks while nobody asks

WatchMode = Literal["auto", "poll", "off"]
Hang = Callable[[Path], Bell | None]


class Watcher:
    """Collects written paths until they are taken.

    ``on_quiet`` is called in the watcher's thread once after events have paused; it must only signal, never work.
    ``poll`` goes without events. ``hang`` and ``clock`` are for those who bring their own kernel and time.
    """

    def __init__(
        self,
        folder: Path,
        on_quiet: Callable[[], None],
        *,
        poll: bool = False,
        hang: Hang = Bell.hang,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._on_quiet = on_quiet
        self._poll = poll
        self._hang = hang
        self._clock = clock
        self._lock = threading.Lock()
        self._touched: set[str] = set()
        self._is_dirty = False
        self._stop = threading.Event()
        self._echo = threading.Condition()  # notified when a call came back as an event
        self._calls_in: Path | None = None  # the folder of our own where calls are made, watched as the vault is
        self._called = self._echoed = 0  # the number of the last call, and of the last one that came back
        self._busy_until = 0.0
        self._look_at = 0.0  # without events: when a query looks again
        self._is_lost = not poll  # the watch is not in place yet, could not be set up, or broke
        self._restart_s = RESTART_S
        self._bell: Bell | None = None
        self._hearing = threading.Lock()  # from asking the bell until all it said is marked
        self._is_rung = False  # the bell told of an edit since the thread last looked
        self._thread = threading.Thread(target=self._run, name="vaultgraph-watch", daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Mark every edit made before the call.

        At once where there is a bell. Elsewhere it waits for the events made until now: some milliseconds while queries
        come, twice IDLE_STEP_MS after a pause, and after SETTLE_S it asks for a look at the whole folder. So it does
        without events, POLL_S after the last look or later.
        """
        if self._poll:
            if self._clock() >= self._look_at:
                self.mark()
            return
        if self._listen():
            return
        self._busy_until = time.monotonic() + BUSY_S
        if not self._is_lost and not self._hear_echo():
            self.mark()

    def looked(self, took_s: float) -> None:
        """Say that the whole folder was looked at, so that without events the next look comes in its time."""
        self._look_at = self._clock() + max(POLL_S, POLL_REST * took_s)

    @property
    def is_dirty(self) -> bool:
        """Whether anything was written since the last `take`, or nobody can tell."""
        return self._is_dirty or self._is_lost

    def goes_on(self) -> bool:
        """Whether more was written since the last `take`, as far as events tell without waiting for any."""
        if not self._poll:
            self._listen()
        return self._is_dirty

    def is_all(self, taken: set[str]) -> bool:
        """Whether nothing was written but the notes and other files ``taken``, of which there are some.

        Not where the configuration was: what is said of it depends on files beside those that are read.
        """
        is_named = all(path and path.split("/", 1)[0] != CONFIGURATION for path in taken)
        return bool(taken) and is_named and not self._is_lost

    def mark(self, *paths: str) -> None:
        """Mark paths as written; without any, ask for a stat pass."""
        with self._lock:
            self._touched.update(paths or (ANYTHING,))
            self._is_dirty = True

    def take(self) -> set[str] | None:
        """The written paths since the last call, vault-relative; None where nothing happened.

        With ANYTHING among them others may have been written as well.
        """
        if not self._is_dirty:
            return None
        with self._lock:
            touched, self._touched, self._is_dirty = self._touched, set(), False
            return touched

    def stop(self) -> None:
        """Stop watching; returns when the thread has ended, or after two seconds."""
        self._stop.set()
        with self._hearing:
            if self._bell is not None:
                self._bell.wake()
        self._thread.join(2.0)

    def _hear_echo(self) -> bool:
        """Wait for an event of our own making, which every earlier one comes in before; False where none came."""
        with self._echo:
            self._called += 1
            number, place = self._called, self._calls_in
        if place is None:
            return False
        call = place / str(number)
        try:
            call.touch()
            with self._echo:
                is_heard = self._echo.wait_for(lambda: self._echoed >= number or self._is_lost, SETTLE_S)
            call.unlink()
        except OSError:  # somebody cleaned up
            return False
        return is_heard

    def _listen(self) -> bool:
        """Mark what the bell heard; False where there is none."""
        # Were the lock let go of before the marks are set, another query could find neither the events nor the marks.
        with self._hearing:
            bell = self._bell
            if bell is None:
                return False
            try:
                heard = bell.heard()
            except OSError as error:  # broken, or no room for another folder
                self._bell = None  # its thread takes it down
                self._is_lost = True
                self.mark()
                bell.wake()
                log.debug("the bell of %s broke: %s", self._folder, error)
                return False
            if heard and self._mark_edits(heard):
                self._is_rung = True
                if threading.current_thread() is not self._thread:
                    bell.wake()  # so that work in the background follows
            return True

    def _mark_edits(self, paths: set[str]) -> bool:
        edits = {path for path in paths if path == ANYTHING or self._is_edit(path.split("/"))}
        if edits:
            self.mark(*edits)
        return bool(edits)

    def _run(self) -> None:
        """Follow the folder; a watch that breaks (on a name that is not UTF-8, say) is set up anew."""
        if self._poll:
            self._follow_clock()
            return
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
            with self._echo:
                self._echo.notify_all()
            if self._stop.wait(self._restart_s):
                return
            self._restart_s = min(2 * self._restart_s, HEAL_S)
            self._on_quiet()  # nobody hears edits: look whether there are any

    def _follow(self) -> None:
        bell = self._hang(self._folder)
        if bell is None:
            self._follow_source()
            return
        try:
            self._bell = bell
            self._follow_bell(bell)
        finally:
            with self._hearing:  # nobody is reading from it
                self._bell = None
                bell.close()

    def _in_place(self) -> float:
        """Note that from now on every edit is heard; when it happened."""
        self.mark()  # what was written before the watch was in place needs a stat pass
        self._is_lost = False
        self._restart_s = RESTART_S
        return time.monotonic()

    def _follow_clock(self) -> None:
        pause_s = QUIET_S
        while not self._stop.wait(pause_s):
            self.mark()
            self._on_quiet()
            pause_s = POLL_IDLE_S

    def _follow_bell(self, bell: Bell) -> None:
        now = self._in_place()
        heal_at, quiet_at = now + HEAL_S, now + QUIET_S
        while not self._stop.is_set():
            bell.wait(min(heal_at, quiet_at) - now)
            if self._stop.wait(IDLE_STEP_MS / 1000):  # a burst is one waking, not a thousand
                return
            if not self._listen():
                raise OSError("the kernel's queue of events broke, or no more folders can be watched")
            now = time.monotonic()
            if self._is_rung:
                self._is_rung = False
                quiet_at = now + QUIET_S
            if now >= heal_at:
                with self._hearing:
                    bell.listen_anew()
                self.mark()
                heal_at, quiet_at = now + HEAL_S, now
            if now >= quiet_at:
                quiet_at = heal_at
                self._on_quiet()

    def _follow_source(self) -> None:
        # The documented backend: `watchfiles.watch` cannot change its pace. Not imported where there is a bell.
        import tempfile  # noqa: PLC0415

        from watchfiles._rust_notify import RustNotify  # noqa: PLC0415

        with tempfile.TemporaryDirectory(prefix=".vaultgraph-", ignore_cleanup_errors=True) as made:
            self._calls_in = Path(made).resolve()  # events come by this name
            try:
                with RustNotify([str(self._folder), str(self._calls_in)], False, False, 0, True, True) as source:
                    self._follow_events(source, self._calls_in)
            finally:
                self._calls_in = None

    def _follow_events(self, source: "RustNotify", calls_in: Path) -> None:
        now = self._in_place()
        heal_at, quiet_at = now + HEAL_S, now + QUIET_S
        while not self._stop.is_set():
            now = time.monotonic()
            is_busy = now < self._busy_until
            step_ms = BUSY_STEP_MS if is_busy else IDLE_STEP_MS
            until = min(heal_at, quiet_at, self._busy_until if is_busy else heal_at)
            events = source.watch(BURST_MS, step_ms, max(1, round((until - now) * 1000)), self._stop)
            if events == "signal":
                return
            now = time.monotonic()
            if isinstance(events, set) and self._take_in({path for _, path in events}, calls_in):
                quiet_at = now + QUIET_S
            if events == "timeout" or now >= min(heal_at, quiet_at):
                # What comes in while a wait ends is forgotten there, and an overflow is never told: look once more.
                self.mark()
                self._on_quiet()
                quiet_at = heal_at = now + HEAL_S
                if not calls_in.is_dir():
                    raise FileNotFoundError(f"{calls_in} is gone")

    def _take_in(self, paths: set[str], calls_in: Path) -> bool:
        called = {path for path in paths if Path(path).is_relative_to(calls_in)}
        is_edited = self._mark_edits(
            {ANYTHING if path == "." else path for path in map(self._relative, paths - called)}
        )
        if is_edited:
            self.mark()  # where there is no bell, one event may stand for many
        numbers = [int(name) for name in (PurePath(path).name for path in called) if name.isdecimal()]
        with self._echo:
            self._echoed = max([self._echoed, *numbers])
            self._echo.notify_all()
        return is_edited

    def _relative(self, path: str) -> str:
        with suppress(ValueError):
            return PurePath(path).relative_to(self._folder).as_posix()
        return ANYTHING  # the folder by another spelling, where case makes no difference

    @staticmethod
    def _is_edit(parts: list[str]) -> bool:
        """Whether a written path, in parts, can change an answer."""
        if parts[0] != CONFIGURATION:
            return not any(part.startswith(".") for part in parts) and PRUNED_NAMES.isdisjoint(parts[:-1])
        if parts[1:] in ([], ["skills"], ["recipes"]):  # a folder as a whole came or went, with what is in it
            return True
        return parts[-1].endswith((".yaml", ".yml", ".md")) and not parts[-1].startswith(".")
