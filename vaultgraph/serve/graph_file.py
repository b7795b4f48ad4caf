"""A saved graph being served: the file behind `--graph`, followed by its identity.

Stands where a Vault stands in a session and answers the same calls. The file is looked at before each; one that was
replaced or written is read again, and while that fails the graph that was read last keeps answering and says so.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PanicException

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.result import Result
from vaultgraph.errors import CorruptKglError, KglError, ProfileError, VaultgraphError
from vaultgraph.files.stamps import ALIASES, FILE_PROBLEMS, STAMPS, Stamps
from vaultgraph.graph.built import Built
from vaultgraph.graph.schema import schema_of
from vaultgraph.graph.store import Stored, load
from vaultgraph.graph.stored_records import late_fault
from vaultgraph.profile.settings import Profile
from vaultgraph.profile.vault_yaml import load_profile
from vaultgraph.vault.guidance_files import Guided
from vaultgraph.vault.refresh import Refreshed
from vaultgraph.vault.report import report_of
from vaultgraph.vault.snapshot import Report, Snapshot
from vaultgraph.vault.state import State
from vaultgraph.vault.valid_time import ViewStore, run_as_of

RETRY_S: Final = 5.0  # a file that could not be read is tried again so much later, or when it changes again

Identity = tuple[int, int, int, int]
"""Device, inode, bytes, and nanoseconds of the last modification."""


class GraphFile:
    """The graph saved at ``path``. Safe to use from several threads: a query keeps the snapshot it began with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._identity: Identity | None = None  # of the file that was tried last, well or not
        self._tried_at = 0.0

    @property
    def report(self) -> Report:
        """What the graph holds.

        Raises:
            KglError: the file could not be read yet.
        """
        return self.current().report

    @property
    def latest(self) -> Snapshot | None:
        """The snapshot as it is, without looking at the file; None before the first."""
        return self._snapshot

    def current(self) -> Snapshot:
        """The snapshot to answer from; where the file changed it is read first.

        After a failed read it is the last good one, with ``stale`` saying since when and why.

        Raises:
            KglError: nothing could be read yet.
        """
        snapshot = self._snapshot
        if snapshot is not None and not self._should_read(snapshot):
            return snapshot
        with self._lock:
            if self._snapshot is not None and not self._should_read(self._snapshot):
                return self._snapshot
            try:
                return self._read()
            except VaultgraphError:
                if self._snapshot is None:
                    raise
                return self._snapshot

    def asked(self) -> None:
        """Nothing is to be prepared: a saved graph is not edited."""

    def query(self, text: str, parameters: Mapping[str, object], *, valid_at: str | None = None) -> Result:
        """Run a query, with ``valid_at`` as of a day.

        Raises:
            QueryError: the query is wrong, or needs more than its budget.
            ParameterError: ``valid_at`` is no day, or nothing declares valid time.
            KglError: nothing could be read yet.
        """
        return run_as_of(self.current(), ViewStore(), text, parameters, Budget(), valid_at=valid_at).result

    def rebuild(self) -> Report:
        """Read the file again, changed or not.

        Raises:
            KglError: it cannot be read; queries keep answering what was read last.
        """
        with self._lock:
            return self._read().report

    def close(self) -> None:
        """Nothing is held that a closed session must give back."""

    def _should_read(self, snapshot: Snapshot) -> bool:
        if late_fault(snapshot.records) and snapshot.stale is None:
            return True
        if self._identity != _identity(self.path):
            return True
        return snapshot.stale is not None and time.monotonic() - self._tried_at > RETRY_S

    def _read(self) -> Snapshot:
        """Read the file and swap the snapshot; on failure mark the old one stale and raise. The lock is held."""
        self._tried_at = time.monotonic()
        self._identity = _identity(self.path)  # before reading: what is written meanwhile is another identity
        try:
            self._snapshot = _snapshot(self._load(), (self._snapshot.generation if self._snapshot else 0) + 1)
        except VaultgraphError as error:
            if self._snapshot is not None:
                old = self._snapshot.stale
                since = old.split(": ", 1)[0] if old else f"since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
                self._snapshot = replace(self._snapshot, stale=f"{since}: {error.message}")
            raise
        return self._snapshot

    def _load(self) -> Stored:
        try:
            return load(self.path)
        except (MemoryError, PanicException, pl.exceptions.PolarsError) as error:
            raise CorruptKglError(f"{self.path}: damaged ({type(error).__name__} while reading it).") from error
        except OSError as error:
            raise KglError(f"{self.path}: cannot be read ({error.strerror}).") from error


def _identity(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _snapshot(stored: Stored, generation: int) -> Snapshot:
    start = time.perf_counter()
    profile = _profile(stored)
    schema = schema_of(stored.graph, profile.indexes)
    nothing = Stamps(pl.DataFrame(schema=STAMPS), [], pl.DataFrame(schema=ALIASES), pl.DataFrame(schema=FILE_PROBLEMS))
    built = Built(graph=stored.graph, problems=stored.problems, counts=stored.counts)
    state = State(stored.records, nothing, built, profile, stored.configuration)
    done = Refreshed(state, stored.graph, profile, Guided(), changed=True, parsed=0, phases_ms={})
    spent_ms = round((time.perf_counter() - start) * 1000, 2)
    return Snapshot(
        generation=generation,
        graph=stored.graph,
        schema=schema,
        records=stored.records,
        stamps=nothing,
        profile=profile,
        guidance=None,
        report=report_of(done, "cache", None, spent_ms),
        built_at=datetime.now(UTC),
    )


def _profile(stored: Stored) -> Profile:
    """The configuration that the graph was built by, as far as this version reads it."""
    texts = stored.configuration
    try:
        return load_profile({path: text.encode() for path, text in texts.items()}.get)
    except ProfileError:
        return Profile()
