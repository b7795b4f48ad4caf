"""Serving a vault from the command line: start, welcome on a terminal, and every way to end.

The folder is opened first, so that a wrong path ends in one line; then the graph is opened in a thread. The protocol
library is imported after that where there is a cache, else meanwhile. Nothing but the protocol is written to stdout.
"""

import ctypes
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from vaultgraph import __version__
from vaultgraph.cli.boot import announcing
from vaultgraph.cli.opening import HttpOptions, ServeOptions, open_session
from vaultgraph.files.root import DEFAULT_CACHE
from vaultgraph.serve.http_address import check_reach, listen, parse_address, read_token
from vaultgraph.serve.sdk_parts import parts_only
from vaultgraph.serve.session import Session

if TYPE_CHECKING:
    from vaultgraph.serve.http_guard import Access

SWITCH_S: Final = 0.0005  # how long a thread keeps the interpreter from others: short, so that heavy queries delay none
ARENAS: Final = 2  # of the C library's allocator, which else keeps up to eight for each processor: 15 MB of holes
_M_ARENA_MAX: Final = -8  # its number in malloc.h
HEAD_START_S: Final = 0.5  # of a cache that is opened, before the protocol library is imported beside it
CLOSE_S: Final = 5.0  # closing writes the cache; a process that is told to end does not wait longer


def serve(options: ServeOptions) -> int:
    """Serve until stdin ends, or over HTTP until a signal; the exit code.

    Raises:
        SettingsError: the folder cannot be served, or not at that address.
    """
    _log_to_stderr(options.log_level)
    since = time.perf_counter()
    sys.setswitchinterval(SWITCH_S)
    share_arenas()
    gc.disable()  # imports make nothing but what stays: collecting between them costs a tenth of the start
    # A manifest that merely lies in the vault may set variables, but not the token that guards the vault.
    environment = os.environ if options.mcp_config else dict(os.environ)
    session, remarks = open_session(options)
    door = None if options.http is None else _door(options.http, environment)
    if session.manifest.csv_server is not None:
        from vaultgraph.serve.http_files import open_csv_files  # noqa: PLC0415 -- few manifests ask for it

        session.csv_files = open_csv_files(session.manifest.csv_server)
        _say(f"vaultgraph: long CSV answers at {session.csv_files.address}")
    _end_on_signals(session)
    _say(_first_line(session, options))
    for remark in remarks:
        _say(f"vaultgraph: {remark}")
    is_person = door is None and sys.stdin.isatty()  # who is shown more than one line
    session.start(None if is_person else announcing(_say, since))
    if _has_saved_graph(session, options):
        # Two threads that both need the interpreter take turns at a price: one after the other they cost less.
        session.wait_built(HEAD_START_S)
    if door is not None:
        _serve_http(session, door)
        _leave(session, 0)
    if is_person:
        from vaultgraph.cli.welcome import welcome  # noqa: PLC0415 -- only for a person at a terminal

        welcome(session, options.name)
    with parts_only(over_http=False):
        from vaultgraph.serve.mcp_server import serve_stdio  # noqa: PLC0415 -- slow; the graph opens meanwhile

    gc.freeze()
    gc.enable()
    try:
        serve_stdio(session)
    except* (BrokenPipeError, ConnectionResetError):
        _leave(session, 0)  # the client is gone: there is nobody left to tell
    _leave(session, 0)
    return 0


def share_arenas() -> None:
    """Let all threads take memory from the same few arenas; call it before there are threads.

    Few threads run at a time, since the interpreter has one lock: an arena for each of them gains nothing, and what a
    thread frees stays in its own. Does nothing where the C library is not glibc.
    """
    mallopt = None if sys.platform == "win32" else getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def _door(options: HttpOptions, environment: Mapping[str, str]) -> tuple[socket.socket, "Access"]:
    """The listening socket and who may come in."""
    from vaultgraph.serve.http_guard import Access  # noqa: PLC0415 -- only over HTTP

    address = parse_address(options.address)
    token = read_token(options.token_file, environment)
    check_reach(address, token)
    if not address.is_loopback:
        _say(f"vaultgraph: {address} is not encrypted; put a proxy with TLS in front of it (docs/http.md).")
    names = {name.casefold().rstrip(".") for name in (*options.allow, address.host)}
    return listen(address), Access(token, frozenset(names), any_literal=not address.is_loopback)


def _serve_http(session: Session, door: tuple[socket.socket, "Access"]) -> None:
    """Serve until a signal: the first one ends in an orderly way, a second one at once."""
    with parts_only(over_http=True):
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


def _has_saved_graph(session: Session, options: ServeOptions) -> bool:
    """Whether there is a file that the graph is likely to come from, which takes a moment."""
    if session.mode != "vault" or options.cache == "none":
        return session.mode == "graph"
    is_default = options.cache == "default"
    return os.path.lexists(session.root.path / DEFAULT_CACHE if is_default else Path(options.cache).expanduser())


def _first_line(session: Session, options: ServeOptions) -> str:
    """What is served, from where and by which manifest, before anything is built."""
    place = options.graph if session.mode == "graph" else session.root.path
    parts = [f'vaultgraph {__version__}: serving "{session.name}" from {place}']
    if session.mode == "vault":
        cache = {"default": DEFAULT_CACHE, "none": "none"}.get(options.cache, options.cache)
        parts += [f"cache {cache}", f"watch {options.watch}"]
    if session.mode == "graph":
        parts.append(f"files from {session.root.path}")
    return " · ".join([*parts, *([f"manifest {session.manifest.path}"] if session.manifest.path else [])])


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
