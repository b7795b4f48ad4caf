"""The open vault: the one door of the library.

Owns the state between refreshes and swaps snapshots; parsing, building and querying live below. Command line and server
use nothing else.
"""

import os
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Self

from vaultgraph.cypher.budget import budget_for
from vaultgraph.cypher.result import Result
from vaultgraph.errors import BuildError, SettingsError, VaultgraphError
from vaultgraph.files.root import VaultRoot
from vaultgraph.graph.built import Built
from vaultgraph.graph.stored_records import late_fault
from vaultgraph.vault.background import Background, Chores
from vaultgraph.vault.cache import CacheChoice, CacheFacts, CacheFile, choose_cache, facts_of, load_cache, write_cache
from vaultgraph.vault.patience import OwnThread, held, waits_for, when_free
from vaultgraph.vault.refresh import Progress, preload, prepared, refresh_whatever_was_cached
from vaultgraph.vault.report import snapshot_of
from vaultgraph.vault.snapshot import Origin, Report, Snapshot, behind, gone_stale
from vaultgraph.vault.stamp_file import save_stamps, stamp_path
from vaultgraph.vault.state import State
from vaultgraph.vault.tables import despite_damage
from vaultgraph.vault.valid_time import ViewStore, run_as_of
from vaultgraph.vault.watch import Watcher, WatchMode

PATIENCE_S: Final = 5.0  # a query waits so long for a refresh that another one began, then answers without it
_PASSES: Final = 3  # over a folder that is written to while it is read
RETRY_S: Final = 1.0  # a failed refresh is tried again by a call that comes this much later
_CLOSED: Final = "The vault is closed: open it again to ask it."


def open_vault(
    path: str | os.PathLike[str],
    cache: CacheChoice = "default",
    *,
    watch: WatchMode = "off",
    progress: Progress | None = None,
    build: bool = True,
) -> "Vault":
    """Open the folder at ``path`` as a graph.

    ``cache``: "default" for `.kglite/graph.kgl` inside the vault, a path, or None for no cache file. ``watch``: follow
    edits while open ("auto", or "poll" for file systems without events); "off" answers what `refresh` last saw.
    ``progress(phase, done, total)`` is called while a build goes on. ``build`` False leaves the build to the first
    query, so that a vault whose configuration is refused can be opened.

    Raises:
        SettingsError: no such folder, not a folder, or not readable.
        ProfileError: the vault's configuration is refused (with ``build``).
        BuildError: the folder cannot be listed (with ``build``).
    """
    root = VaultRoot.open(path)
    vault = Vault(root, choose_cache(root.path, cache), watch=watch, progress=progress)
    if build:
        with ExitStack() as undoing:
            undoing.callback(vault.close)
            vault.refresh()
            undoing.pop_all()
    return vault


class Vault:
    """A folder of notes, its current snapshot, and the watcher that keeps it true.

    Safe to use from several threads: a query takes one snapshot and keeps it, refreshes exclude each other.
    """

    def __init__(self, root: VaultRoot, cache: CacheFile | None, *, watch: WatchMode, progress: Progress | None):
        self.root = root
        self._cache = cache
        self._progress = progress
        self._lock = threading.Lock()
        self._refresher = OwnThread()
        self._saving = threading.Lock()  # taken before the other
        self._state: State | None = None
        self._snapshot: Snapshot | None = None
        self._views = ViewStore()
        self._prepared: Built | None = None  # the graph that edits can be taken in with
        self._touched: set[str] = set()  # written paths that no successful refresh has taken in yet
        self._calm = threading.Event()  # set while no refresh goes on
        self._calm.set()
        self._unsaved = self._unstamped = False  # the graph differs from the cache file, stamps from theirs
        self._loaded = self._is_closed = False
        self._failed_at = 0.0
        self._began = 0.0  # the last refresh, on the monotonic clock
        self._watch = watch
        self._background = Background(
            Chores(
                is_saved=lambda: not (self._unsaved or self._unstamped),
                is_prepared=lambda: self._state is None or self._prepared is self._state.built,
                prepare=self._prepare,
                refresh=self._catch_up,
                save=self.save,
            )
        )
        self._watcher = self._new_watcher()
        if self._watcher:
            self._background.start()

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.root.name

    @property
    def report(self) -> Report:
        """What the last build or refresh found.

        Raises:
            VaultgraphError: nothing could be built yet.
        """
        return self.current().report

    @property
    def latest(self) -> Snapshot | None:
        """The snapshot as it is, without looking for edits; None before the first build."""
        return self._snapshot

    def current(self) -> Snapshot:
        """The snapshot to answer from, refreshed first where something was written.

        After a failed refresh it is the last good one, with ``stale`` saying since when and why; so also while a
        refresh takes longer than PATIENCE_S, as when a read hangs.

        Raises:
            VaultgraphError: nothing could be built yet; the reason of the failed build.
        """
        if self._is_closed:
            raise BuildError(_CLOSED)
        if self._watcher:
            self._watcher.settle()
            snapshot = self._snapshot
            if snapshot is not None and snapshot.stale is None and not self.root.exists():
                self._watcher.mark()  # a folder above was moved, or another one put there: no event tells
        return self._fresh()

    def _fresh(self) -> Snapshot:
        """`current` without waiting for events that are on their way."""
        # The order of the looks matters: events leave the watcher only after `_calm` is cleared, and that is set
        # only after the snapshot was swapped. So a change that another thread is taking in makes this call wait for it,
        # and one that it has just taken in is in the snapshot read last.
        is_behind = self._is_dirty() or not self._calm.is_set()
        snapshot = self._snapshot
        if snapshot is not None and not (is_behind or self._should_retry(snapshot)):
            return snapshot
        waits_s = PATIENCE_S if self._calm.is_set() else max(0.0, self._began + PATIENCE_S - time.monotonic())
        if self._lock.acquire(timeout=-1 if snapshot is None else waits_s):
            done = self._refresher.run(self._caught_up, self._lock, None if snapshot is None else PATIENCE_S)
            if done is not None:
                return done
        assert snapshot is not None
        return behind(snapshot, self._began)

    def _caught_up(self) -> Snapshot:
        """The snapshot refreshed where that is still needed. The lock is held."""
        if self._snapshot is not None and not (self._is_dirty() or self._should_retry(self._snapshot)):
            return self._snapshot
        try:
            return self._attempt(only_touched=True)
        except VaultgraphError:
            if self._is_closed or self._snapshot is None or late_fault(self._snapshot.records):
                raise  # else the reader of a damaged cache is told of that only, and not why nothing is built
            return self._snapshot

    def asked(self) -> None:
        """Say that a question came: it is time to prepare for edits."""
        self._background.asked()

    def query(self, text: str, /, *, valid_at: str | None = None, **params: object) -> Result:
        """Run a Cypher query on the current snapshot; ``params`` are its $parameters.

        ``valid_at``: "today" or an ISO date leaves out what did not hold then, where the vault declares valid time.

        Raises:
            QueryError: the query is wrong, or needs more than its budget.
            ParameterError: ``valid_at`` is no day, or nothing declares valid time.
        """
        return self.run(text, params, valid_at=valid_at)[0]

    def run(
        self,
        text: str,
        parameters: Mapping[str, object],
        *,
        timeout_ms: int | None = None,
        cancelled: threading.Event | None = None,
        valid_at: str | None = None,
    ) -> tuple[Result, Snapshot]:
        """Run a query with a deadline; also answers the snapshot it ran on.

        Raises:
            QueryError: the query is wrong, over its deadline, or cancelled.
            ParameterError: as of `query`.
        """
        budget = budget_for(timeout_ms, cancelled)

        def work() -> tuple[Result, Snapshot]:
            found = run_as_of(self.current(), self._views, text, parameters, budget, valid_at=valid_at)
            return found.result, found.snapshot

        self.asked()
        return despite_damage(work)

    def refresh(self) -> Report:
        """Look at the whole folder now, take in what changed, and say what was found.

        Raises:
            ProfileError: the configuration is refused; queries keep answering the last good snapshot.
            BuildError: the folder cannot be listed.
        """
        with self._lock:
            return self._attempt().report

    def rebuild(self) -> Report:
        """Forget everything known and build from the notes.

        Raises:
            ProfileError: the configuration is refused; queries keep answering the last good snapshot.
            BuildError: the folder cannot be listed.
        """
        with self._lock:
            if not self._loaded and self._cache and not self._is_closed:
                # Whose file it is must be known before it is replaced.
                _, self._cache = load_cache(self._cache, self.root)
            known, self._state, self._loaded = self._state, None, True
            try:
                return self._attempt().report
            finally:
                self._state = self._state or known

    def save(self) -> str | None:
        """Write the cache file where something is unsaved; one line about it, None without a cache."""
        with self._saving:  # no query waits while this writes
            if not self._lock.acquire(timeout=PATIENCE_S):
                return None  # reading hangs: what it found is not known yet
            with held(self._lock):
                cache, state, is_unsaved, is_unstamped = self._cache, self._state, self._unsaved, self._unstamped
                self._unsaved = self._unstamped = False
            if cache is None:
                return None
            if state and (is_unsaved or cache.has_failed) and cache.is_writable:
                cache = write_cache(cache, state, self.root, waits_for(self._calm, PATIENCE_S))
                with self._lock:
                    self._cache = cache
                    self._unsaved |= cache.is_busy
            if state and is_unstamped:
                save_stamps(stamp_path(self.root.path), state.trusted, state.records)
            return cache.remark

    def cache_facts(self) -> CacheFacts | None:
        """What is in the cache file, compared with the notes; None without one, or where it cannot be read.

        Raises:
            VaultgraphError: nothing could be built yet.
        """
        return facts_of(self._cache, self.current().records) if self._cache else None

    @property
    def is_cache_refused(self) -> bool:
        """Whether there is a cache that could not be written, or must not be: the file there is another program's."""
        return self._cache is not None and (self._cache.has_failed or not self._cache.is_writable)

    def close(self) -> None:
        """Stop watching, write the cache, let go of the folder and what was read. From then on only BuildErrors."""
        self._is_closed = True  # first: who asks from now on is told so at once, and holds the lock no longer
        self._background.stop()
        if self._watcher:
            self._watcher.stop()
        self.save()

        def let_go() -> None:
            self._state = self._snapshot = self._prepared = None
            self._views.clear()
            self.root.close()

        when_free(let_go, self._lock, PATIENCE_S)  # while somebody reads, that needs the folder
        self._refresher.stop(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_dirty(self) -> bool:
        return self._watcher is not None and self._watcher.is_dirty

    def _should_retry(self, snapshot: Snapshot) -> bool:
        if late_fault(snapshot.records) is not None:
            return True
        if snapshot.stale is None:
            return False
        is_put_back = not self.root.exists() and Path(self.root.path).is_dir()
        return is_put_back or time.monotonic() - self._failed_at > RETRY_S

    def _attempt(self, *, only_touched: bool = False) -> Snapshot:
        """Refresh; on failure mark the snapshot stale and raise. The lock is held. ``only_touched``: what the watcher
        names is all that is looked at, unless more may have been written."""
        if self._is_closed:
            raise BuildError(_CLOSED)
        self._began = time.monotonic()
        self._calm.clear()
        fault = "a fault in vaultgraph stopped the reading of the notes"  # unless it is another one, or none
        try:
            is_sound = self._snapshot is not None and self._snapshot.stale is None and self.root.exists()
            self._follow_replaced_folder()
            origin: Origin = "refreshed" if self._loaded else "cache"
            if self._state is None and not self._loaded and self._cache:
                self._state, self._cache = load_cache(self._cache, self.root)
                self._background.wake()  # there is something to prepare
            for _ in range(_PASSES):
                # As late as can be: at a start the watch comes into place meanwhile; what it marks then is taken in.
                taken = (self._watcher.take() if self._watcher else None) or set()
                is_all = self._watcher is not None and not self._touched and self._watcher.is_all(taken)
                self._touched |= taken
                despite_damage(partial(self._refresh, only_touched and is_sound and is_all, origin))
                self._touched.clear()
                if not (is_sound and self._watcher and self._watcher.goes_on()):
                    break  # else part of it may be from before a save, and part from after a later one
            fault = ""
        except VaultgraphError as error:
            fault = error.message
            raise
        finally:
            if fault:
                self._failed_at = time.monotonic()
                self._snapshot = self._snapshot and gone_stale(self._snapshot, fault)
            self._calm.set()
            if self._watcher:
                self._watcher.looked(time.monotonic() - self._began)
        assert self._snapshot is not None
        return self._snapshot

    def _refresh(self, only_touched: bool, origin: Origin) -> None:
        """One pass over the folder; swaps the snapshot where anything changed. The lock is held."""
        self._loaded = True
        done, fault = refresh_whatever_was_cached(
            self.root, self._state, self._touched, self._progress, only_touched=only_touched
        )
        if fault:  # what was read from the cache file was found damaged later
            self._state, self._cache = None, self._cache and replace(self._cache, remark=f"rebuilt: {fault}")
        origin = origin if self._state else "built"
        old, self._state = self._state, done.state
        self._unsaved = self._unsaved or done.changed
        self._unstamped = self._unstamped or old is None or not old.is_trusted_as(done.state)
        current = self._snapshot
        is_same = not done.changed and old and old.has_files_of(done.state) and old.guided == done.guided
        if current and current.stale is None and is_same:
            self._snapshot = replace(current, stamps=done.state.stamps)  # true of a later moment
            return
        generation = current.generation + 1 if current else 1
        made = snapshot_of(generation, done, origin, self._cache.remark if self._cache else None)
        self._snapshot = replace(made, watch=self._watch)

    def _follow_replaced_folder(self) -> None:
        """Where the vault's path names another folder than the one held open, go on with that one."""
        if self.root.exists():
            return
        try:
            root = VaultRoot.open(self.root.path)
        except SettingsError as error:
            raise BuildError(f"The vault folder is gone: {error.message}") from error
        # The old root is left to the garbage collector: another thread may still be reading through its handle.
        self.root = root
        if self._watcher:
            self._watcher.stop()
            if not self._background.is_stopping:
                self._watcher = self._new_watcher()

    def _new_watcher(self) -> Watcher | None:
        if self._watch == "off":
            return None
        return Watcher(self.root.path, self._background.wake, poll=self._watch == "poll")

    def _prepare(self) -> None:
        """Find out and load what edits are taken in with, where the graph came from the cache."""

        def work() -> None:
            if self._state and self._snapshot:
                self._state = prepared(self._state)
                self._prepared = self._state.built

        self._lock.acquire()  # which running gives back
        self._refresher.run(work, self._lock, None)  # in the thread that takes edits in: it keeps what it compiles

    def _catch_up(self) -> None:
        """Take in what was written, though nobody asks: the watcher keeps its idle pace."""
        if self._is_dirty():
            preload()
        self._fresh()
