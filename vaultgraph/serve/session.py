"""One vault being served: its folder at once, its graph as soon as it is built, and the results kept for later parts.

The folder is open before the graph is, so file operations answer from the first moment. The graph is opened and built
in a thread of its own; a build that failed is tried again by a later call. Knows nothing of the protocol.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from vaultgraph.errors import BuildError, FileError, SettingsError, VaultgraphError
from vaultgraph.files.root import VaultRoot
from vaultgraph.frozen import frozen
from vaultgraph.serve.manifest import Manifest, Mode
from vaultgraph.serve.results import ResultStore

if TYPE_CHECKING:  # the graph's libraries are imported by the building thread, while the transport is being imported
    from vaultgraph.serve.http_files import CsvFiles
    from vaultgraph.vault.snapshot import Report, Snapshot

Progress = Callable[[str, int, int], None]  # phase, done, total


class Source(Protocol):
    """What answers about a graph: a vault, or a saved graph."""

    @property
    def report(self) -> "Report": ...

    @property
    def latest(self) -> "Snapshot | None": ...

    def current(self) -> "Snapshot": ...

    def asked(self) -> None: ...

    def rebuild(self) -> "Report": ...

    def close(self) -> None: ...


Opener = Callable[[Progress], Source]
"""Opens the vault without building it; the given function is told how a build goes on."""

WAIT_S: Final = 2.0  # a call during the first build waits this long
RETRY_S: Final = 1.0  # a failed build is tried again by a call that comes this much later
STOP_S: Final = 5.0


class StillBuilding(Exception):  # noqa: N818 -- an answer, not an error: dispatch turns it into one
    """The first build goes on; ``text`` says how far it is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Session:
    """What operations run against. `start` begins to build; safe to use from several threads."""

    def __init__(
        self,
        root: VaultRoot,
        opener: Opener,
        *,
        name: str,
        wait_s: float = WAIT_S,
        mode: Mode = "vault",
        manifest: Manifest | None = None,
        takes_vault_guidance: bool = True,
        follows_edits: bool = True,
        more_roots: Sequence[VaultRoot] = (),
    ) -> None:
        self.root = root
        self.name = name
        self.mode: Mode = mode
        self.manifest = manifest or Manifest()
        self.offered: Mapping[str, Any] | None = None  # operations, kept by surface.operations_of; None makes it anew
        self.own_skills: Sequence[tuple[Any, Any]] | None = None  # kept by guidance, as is what it makes of it
        self.guides: Any = None
        self.views: Any = None  # graphs of days, kept by asking
        self.coded: Any = None  # the newest graph with values as the manifest writes them, kept by value_codecs
        self.takes_vault_guidance = takes_vault_guidance
        self.follows_edits = follows_edits
        self.more_roots = tuple(more_roots)
        self.results = ResultStore()
        self.csv_files: CsvFiles | None = None  # where long CSV answers go, if the manifest says so
        self._opener = opener
        self._wait_s = wait_s
        self._lock = threading.Lock()
        self._vault: Source | None = None
        self._settled = threading.Event()
        self._error: VaultgraphError | None = None
        self._failed_at = 0.0
        self.phase: tuple[str, int, int] = ("open", 0, 0)
        self._thread: threading.Thread | None = None
        self._on_settled: Callable[[Session], None] | None = None

    def start(self, on_settled: Callable[["Session"], None] | None = None) -> None:
        """Begin to open and build in the background; returns at once.

        ``on_settled`` is called, there, when the first build has ended, well or not.
        """
        self._on_settled = on_settled
        if self.mode == "files":
            self._settled.set()
            self._tell()
            return
        with self._lock:
            self._begin()

    def _begin(self) -> None:
        self._settled.clear()
        self._error = None
        thread = threading.Thread(target=self._build, name="vaultgraph-build", daemon=True)
        thread.start()
        self._thread = thread  # only now: a signal may close this meanwhile, and nobody can join what is not started

    def vault(self) -> Source:
        """The built vault, or the saved graph.

        Raises:
            StillBuilding: the first build did not end within the wait.
            VaultgraphError: it failed, and the next call tries again; or only files are served.
        """
        if self.mode == "files":
            raise BuildError("Only files are served here, no graph. Start the server with --vault DIR for one.")
        with self._lock:
            if self._error is not None and time.monotonic() - self._failed_at > RETRY_S:
                self._begin()
        if not self._settled.wait(self._wait_s):
            raise StillBuilding(self.progress())
        if self._error is not None:
            raise self._error
        if self._vault is None:
            raise BuildError("The build stopped unexpectedly; the server's log says where. Restart the server.")
        return self._vault

    def latest(self) -> "Snapshot | None":
        """The newest generation there is, without looking for edits; None before the first."""
        return self._vault.latest if self._vault is not None else None

    def folder(self) -> VaultRoot:
        """The folder, for file operations.

        Raises:
            FileError: it is gone.
        """
        if self.root.exists():
            return self.root
        try:
            # A sync client or a restored backup may have put another folder in its place.
            self.root = VaultRoot.open(self.root.path)
        except SettingsError as error:
            raise FileError(
                f"The vault folder {self.root.path} is gone: deleted, moved or not mounted. Put it back, or restart "
                "the server with another folder."
            ) from error
        return self.root

    def folders(self) -> tuple[VaultRoot, ...]:
        """All folders of file operations, the first one first; several only beside a saved graph.

        Raises:
            FileError: the first one is gone.
        """
        return self.folder(), *self.more_roots

    def is_built(self) -> bool:
        """Whether graph operations answer without waiting."""
        return self.mode != "files" and self._settled.is_set() and self._error is None

    @property
    def fault(self) -> VaultgraphError | None:
        """Why there is no graph, where the last build failed."""
        return self._error

    def is_settled(self) -> bool:
        """Whether no build is going on in the background."""
        return self._settled.is_set()

    def percent(self) -> int:
        """How far the first build is, roughly: reading is most of it."""
        phase, done, total = self.phase
        match phase:
            case "open":
                return 0
            case "read":
                return 5 + 75 * done // total if total else 5
            case _:
                return 80

    def wait_built(self, timeout_s: float) -> bool:
        """Wait for the build to end, well or not; False where it did not within ``timeout_s``."""
        return self._settled.wait(timeout_s)

    def progress(self) -> str:
        """One line on how far the first build is."""
        if self.mode == "files":
            return "Only files are served, no graph."
        return (
            f"The graph is being built, {self.percent()} %. Call again in a few seconds; tools that read files answer "
            "already."
        )

    def close(self) -> bool:
        """Stop, write the cache and let go of the folder; False where a build is still running and was left behind."""
        if self.csv_files is not None:
            self.csv_files.close()
        thread = self._thread
        if thread is not None:
            thread.join(0.0 if not self._settled.is_set() else STOP_S)
        if not self._settled.is_set():
            return False
        if self._vault is not None:
            self._vault.close()
        for root in (self.root, *self.more_roots):
            root.close()
        return True

    def _build(self) -> None:
        try:
            if self._vault is None:
                self._vault = self._opener(self._note_progress)
            self._vault.current()
        except VaultgraphError as error:
            self._fail(error)
        except OSError as error:
            self._fail(BuildError(f"The vault could not be opened: {error.strerror or type(error).__name__}."))
        finally:
            self._settled.set()
            self._tell()

    def _tell(self) -> None:
        told, self._on_settled = self._on_settled, None
        if told:
            told(self)

    def _fail(self, error: VaultgraphError) -> None:
        self._failed_at = time.monotonic()
        self._error = error

    def _note_progress(self, phase: str, done: int, total: int) -> None:
        self.phase = (phase, done, total)


@frozen
class Call:
    """One call of an operation: checked ``arguments`` without nulls, and ``cancelled``, set when nobody waits."""

    session: Session
    arguments: dict[str, Any]
    cancelled: threading.Event
