"""Long CSV answers as files to fetch from this machine, each for ten minutes: `http://127.0.0.1:PORT/….csv`.

For clients that hand a table on instead of reading it. Serves what `publish` was given and nothing else, by names
nobody can guess, so that a web page of any origin has to be told one first. Files are gone when the server ends.
"""

import contextlib
import secrets
import shutil
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from vaultgraph.errors import SettingsError
from vaultgraph.serve.http_address import is_loopback
from vaultgraph.serve.manifest import CsvServer

KEEP_S: Final = 600.0
MOST_FILES: Final = 32
MOST_BYTES: Final = 256 * 1024 * 1024
SOCKET_S: Final = 10.0
MOST_READERS: Final = 16
PREFIX: Final = "vaultgraph-"


@dataclass(frozen=True, slots=True)
class _Kept:
    path: Path
    size_bytes: int
    until: float


class CsvFiles:
    """A small HTTP server on 127.0.0.1. Safe to use from several threads; `close` removes all it wrote."""

    def __init__(
        self,
        port: int = 0,
        folder: Path | None = None,
        cors_origin: str | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to listen; ``folder`` None is a temporary folder that only this user may read.

        Raises:
            SettingsError: the port is taken, or the folder cannot be made.
        """
        try:
            self._is_own = folder is None
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX)) if folder is None else folder
            self._folder.mkdir(parents=True, exist_ok=True)
            self._server = _Server(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise SettingsError(
                f"csv_http_server: {error.strerror or type(error).__name__}. Choose another port or dir; port 0 takes "
                "a free one."
            ) from error
        self._server.files = self
        self.cors_origin = cors_origin
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._thread = threading.Thread(target=self._server.serve_forever, name="vaultgraph-csv", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """`http://127.0.0.1:PORT/`."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def publish(self, lines: Iterable[str]) -> tuple[str, int] | None:
        """Write ``lines`` to a file; its address and size in bytes. None where it is larger than all that is kept."""
        name = f"{PREFIX}{secrets.token_hex(16)}.csv"
        path = self._folder / name
        size, is_whole = 0, False
        try:
            with path.open("xb") as target:
                path.chmod(0o600)
                for line in lines:
                    size += target.write(line.encode("utf-8", "backslashreplace"))
                    if size > MOST_BYTES:
                        return None
            is_whole = True
        finally:
            if not is_whole:  # too large, cancelled or failed: no half of a table is left behind
                path.unlink(missing_ok=True)
        with self._lock:
            self._kept[name] = _Kept(path, size, self._clock() + KEEP_S)
            self._forget()
        return f"{self.address}{name}", size

    def find(self, name: str) -> Path | None:
        """The file called ``name``, where it is kept (still)."""
        with self._lock:
            self._forget()
            kept = self._kept.get(name)
            return None if kept is None else kept.path

    def close(self) -> None:
        """Stop and remove every file."""
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            while self._kept:
                self._drop(next(iter(self._kept)))
        if self._is_own:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _forget(self) -> None:
        """Remove what is old, then the oldest until the caps hold."""
        now = self._clock()
        for name in [name for name, kept in self._kept.items() if kept.until <= now]:
            self._drop(name)
        while len(self._kept) > MOST_FILES or sum(kept.size_bytes for kept in self._kept.values()) > MOST_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, name: str) -> None:
        with contextlib.suppress(OSError):
            self._kept.pop(name).path.unlink(missing_ok=True)


def open_csv_files(choice: CsvServer) -> CsvFiles:
    """The server a manifest asks for.

    Raises:
        SettingsError: as CsvFiles.
    """
    return CsvFiles(choice.port, choice.folder, choice.cors_origin)


class _Server(ThreadingHTTPServer):
    files: CsvFiles
    daemon_threads = True
    request_queue_size = 16

    def __init__(self, *arguments: Any) -> None:
        self._readers = threading.Semaphore(MOST_READERS)
        super().__init__(*arguments)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One reader of a few at the same time; the others wait here."""
        with self._readers:
            super().process_request_thread(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = SOCKET_S
    server_version = "vaultgraph"
    sys_version = ""

    def do_GET(self) -> None:
        """One of the files, to whoever knows its name."""
        path = self._found()
        try:
            content = None if path is None else path.open("rb")
        except OSError:
            content = None
        if content is None:
            self._say(404)
            return
        with content:
            self.send_response(200)
            self.send_header("Content-Type", "text/csv; charset=utf-8")
            self.send_header("Content-Length", str(content.seek(0, 2)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Content-Disposition", "attachment")
            if self.server.files.cors_origin is not None:
                self.send_header("Access-Control-Allow-Origin", self.server.files.cors_origin)
            self.end_headers()
            content.seek(0)
            shutil.copyfileobj(content, self.wfile)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- named by the standard library
        """Names of files are secrets: nothing is logged."""

    def _found(self) -> Path | None:
        """The file asked for; None where the Host is not this machine or there is no such name."""
        hosts = self.headers.get_all("Host", [])
        try:
            name = urlsplit(f"//{hosts[0]}").hostname if len(hosts) == 1 else None
        except ValueError:
            name = None
        if name is None or not is_loopback(name):
            return None
        return self.server.files.find(self.path.removeprefix("/"))

    def _say(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
