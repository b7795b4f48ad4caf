"""Serving a vault from the command line: start, welcome on a terminal, and every way to end.

The folder is opened first, so that a wrong path ends in one line; then the graph is opened in a thread while the
protocol library is imported. Nothing but the protocol is written to stdout.
"""

import gc
import logging
import os
import signal
import socket
import sys
import threading
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Final, cast

from vaultgraph import __version__
from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.http_address import check_reach, listen, parse_address, read_token
from vaultgraph.serve.http_guard import Access
from vaultgraph.serve.session import Progress, Session

if TYPE_CHECKING:
    from vaultgraph.vault.vault import Vault
    from vaultgraph.vault.watch import WatchMode

CLOSE_S: Final = 5.0  # closing writes the cache; a process that is told to end does not wait longer


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The flags of serving over HTTP, as given."""

    address: str
    token_file: str | None
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The flags of serving, as given; ``cache`` is "default", "none" or a path; ``http`` None means stdio."""

    vault: str
    cache: str
    name: str | None
    watch: str
    log_level: str
    http: HttpOptions | None = None


def serve(options: ServeOptions) -> int:
    """Serve until stdin ends, or over HTTP until a signal; the exit code.

    Raises:
        SettingsError: the folder cannot be served, or not at that address.
    """
    _log_to_stderr(options.log_level)
    door = None if options.http is None else _door(options.http)
    gc.disable()  # imports make nothing but what stays: collecting between them costs a tenth of the start
    root = VaultRoot.open(options.vault)
    session = Session(root, _opener(options), name=options.name or root.name)
    _end_on_signals(session)
    session.start()
    cache = {"default": ".kglite/graph.kgl", "none": "none"}.get(options.cache, options.cache)
    _say(f'vaultgraph {__version__}: serving "{session.name}" from {root.path} · cache {cache} · watch {options.watch}')
    if door is not None:
        _serve_http(session, door)
        _leave(session, 0)
    if sys.stdin.isatty():
        from vaultgraph.cli.welcome import welcome  # noqa: PLC0415 -- only for a person at a terminal

        welcome(session, options.name)
    from vaultgraph.serve.mcp_server import serve_stdio  # noqa: PLC0415 -- slow; the graph opens meanwhile

    gc.freeze()
    gc.enable()
    try:
        serve_stdio(session)
    except* (BrokenPipeError, ConnectionResetError):
        _leave(session, 0)  # the client is gone: there is nobody left to tell
    _leave(session, 0)
    return 0


def _door(options: HttpOptions) -> tuple[socket.socket, Access]:
    """The listening socket and who may come in."""
    address = parse_address(options.address)
    token = read_token(options.token_file, os.environ)
    check_reach(address, token)
    if not address.is_loopback:
        _say(f"vaultgraph: {address} is not encrypted; put a proxy with TLS in front of it (docs/http.md).")
    names = {name.casefold().rstrip(".") for name in (*options.allow, address.host)}
    return listen(address), Access(token, frozenset(names), any_literal=not address.is_loopback)


def _serve_http(session: Session, door: tuple[socket.socket, Access]) -> None:
    """Serve until a signal: the first one ends in an orderly way, a second one at once."""
    from vaultgraph.serve.http_server import HttpServer  # noqa: PLC0415 -- slow; the graph opens meanwhile

    listener, access = door
    server = HttpServer(session, listener, access)

    def end(_number: int, _frame: FrameType | None) -> None:
        _end_on_signals(session)
        server.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    gc.freeze()
    gc.enable()
    guarded = "with a bearer token" if access.token else "without a token: every program of this machine may ask"
    server.run(lambda: _say(f"vaultgraph: listening on {server.url} {guarded}"))


def _opener(options: ServeOptions):
    def open_graph(progress: Progress) -> "Vault":
        from vaultgraph.vault.vault import open_vault  # noqa: PLC0415 -- in this thread, beside other imports

        cache = None if options.cache == "none" else options.cache
        return open_vault(options.vault, cache, watch=cast("WatchMode", options.watch), progress=progress, build=False)

    return open_graph


def _end_on_signals(session: Session) -> None:
    """End at once on Ctrl-C and on a request to terminate: a read of stdin cannot be interrupted in an orderly way."""

    def end(number: int, _frame: FrameType | None) -> None:
        _leave(session, 128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def _leave(session: Session, code: int) -> None:
    """Close the vault and end the process without waiting for threads that may be inside native code.

    Closing has a thread of its own: a signal may have come while this one held a lock that closing needs.
    """
    closing = threading.Thread(target=session.close, name="vaultgraph-close", daemon=True)
    closing.start()
    closing.join(CLOSE_S)
    # No flush: stderr is flushed line by line, and a signal may have come in the middle of doing so.
    os._exit(code)


def _log_to_stderr(level: str) -> None:
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("vaultgraph").setLevel(level.upper())


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
