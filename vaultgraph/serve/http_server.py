"""MCP over streamable HTTP: the SDK's session manager behind our guard, run by uvicorn on a listening socket.

All clients share one session, one pool of workers and so one snapshot. Ends in an orderly way: `stop` cancels what
runs, closes streams and returns from `run`. TLS is left to a proxy.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Generator
from functools import partial
from typing import Final, cast

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from vaultgraph.serve.http_connections import Connections
from vaultgraph.serve.http_guard import PATH, Access, HttpGuard
from vaultgraph.serve.http_limits import Limits
from vaultgraph.serve.mcp_server import make_server
from vaultgraph.serve.results import ResultStore
from vaultgraph.serve.session import Session

MOST_SESSIONS: Final = 256
IDLE_S: Final = 1800.0
STOP_S: Final = 3
KEEP_ALIVE_S: Final = 15
MOST_HEAD_BYTES: Final = 32 * 1024


class HttpServer:
    """Serves ``session`` on ``listener``; `run` blocks, `stop` may be called from any thread or signal handler."""

    def __init__(self, session: Session, listener: socket.socket, access: Access, limits: Limits | None = None) -> None:
        self._session = session
        self._listener = listener
        # Clients must not read each other's later parts by counting r1, r2, …
        session.results = ResultStore(is_shared=True)
        self._manager = StreamableHTTPSessionManager(
            make_server(session), session_idle_timeout=IDLE_S, max_sessions=MOST_SESSIONS
        )
        limits = limits or Limits()
        self._guard = HttpGuard(self._manager.asgi_app, access, partial(_health, session), limits)
        self._connections = Connections(limits.connections, limits.head_s, limits.stall_s)
        self._server: _Uvicorn | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopped = False

    @property
    def url(self) -> str:
        """Where clients connect."""
        host, port = self._listener.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"

    def run(self, started: Callable[[], None] | None = None) -> None:
        """Serve until `stop`; ``started`` is called once requests are answered."""
        anyio.run(self._serve, started)

    def stop(self) -> None:
        """End what runs and return from `run` within a few seconds."""
        self._is_stopped = True
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self._guard.close()
        if self._server is not None:
            self._server.should_exit = True

    async def _serve(self, started: Callable[[], None] | None) -> None:
        for name in ("uvicorn.error", "mcp.server", "mcp.shared"):
            # What clients do wrong is told to them: it must not fill the operator's log.
            logging.getLogger(name).setLevel(logging.CRITICAL if name == "uvicorn.error" else logging.ERROR)
        config = uvicorn.Config(
            self._guard,
            http=cast("type[asyncio.Protocol]", self._connections.protocol()),  # called like the class it makes one of
            interface="asgi3",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # whoever sends X-Forwarded-For would choose the address rates are counted by
            ws="none",
            loop="asyncio",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=STOP_S,
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
        )
        self._server = _Uvicorn(config)
        self._loop = asyncio.get_running_loop()
        if self._is_stopped:
            return
        async with self._manager.run():
            if started is not None:
                started()
            await self._server.serve(sockets=[self._listener])


class _Uvicorn(uvicorn.Server):
    """Leaves signals to cli/serving, which knows what else has to be closed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _health(session: Session) -> str:
    if session.is_built():
        return "ok"
    return "failed" if session.is_settled() else "building"
