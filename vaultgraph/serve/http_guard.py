"""Who may talk to the HTTP server, and how much: checked on every request before the protocol sees a byte of it.

Host and Origin (a web page must not reach the vault through the browser of its reader), the bearer token, the size of
a body and the time it takes, the rate and number of requests. A plain ASGI application around another one. Sets an
event when the client of a request has gone, so that its work stops.
"""

import hmac
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import anyio

from vaultgraph.serve.http_address import ip_literal, is_loopback
from vaultgraph.serve.http_limits import GONE, Limits

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
LISTEN: Final = "subscriptions/listen"
MOST_PEERS: Final = 1024
FAILURES_PER_S: Final = 2.0
FAILURES_AT_ONCE: Final = 20.0


@dataclass(frozen=True, slots=True)
class Access:
    """``names``: hosts beside loopback that may stand in Host and Origin. ``any_literal``: every IP address may too.

    A page that rebinds its own name to this machine sends that name: an address cannot be rebound.
    """

    token: str | None = None
    names: frozenset[str] = frozenset()
    any_literal: bool = False


class Buckets:
    """Token buckets by key, the least recently used forgotten first."""

    def __init__(self, per_s: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._most, self._clock = per_s, most, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> bool:
        """Take one; False where none is left."""
        now = self._clock()
        left, at = self._left.pop(key, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_s)
        self._left[key] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_PEERS:
            self._left.popitem(last=False)
        return left >= 1


@dataclass(frozen=True, slots=True)
class _Refused(Exception):  # noqa: N818 -- an answer, not an error
    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(eq=False, slots=True)
class _Exchange:
    """One request being answered; ``gone`` is set when nobody waits for the answer any more."""

    gone: threading.Event = field(default_factory=threading.Event)
    left: anyio.Event = field(default_factory=anyio.Event)

    def end(self) -> None:
        self.gone.set()
        self.left.set()


class HttpGuard:
    """The application a server runs: `/healthz`, and `/mcp` behind the checks. For one event loop."""

    def __init__(self, app: App, access: Access, health: Callable[[], str], limits: Limits | None = None) -> None:
        self._app = app
        self._access = access
        self._health = health
        self._limits = limits or Limits()
        self._requests = Buckets(self._limits.requests_per_s, self._limits.requests_at_once)
        self._failures = Buckets(FAILURES_PER_S, FAILURES_AT_ONCE)
        self._calls: set[_Exchange] = set()
        self._streams: set[_Exchange] = set()
        self._is_closing = False

    def close(self) -> None:
        """End all requests that are being answered and refuse new ones. Call it in the event loop."""
        self._is_closing = True
        for exchange in (*self._calls, *self._streams):
            exchange.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            headers = _headers(scope)
            self._check(scope, headers)
            if scope["path"] == HEALTH_PATH:
                await self._say_health(scope, send)
                return
            self._check_token(scope, headers)
            # The protocol refuses a message whose method is not that of the header.
            is_stream = scope["method"] == "GET" or headers.get("mcp-method") == LISTEN
            running, most = (self._streams, self._limits.streams) if is_stream else (self._calls, self._limits.running)
            if len(running) >= most:
                raise _Refused(503, "Too many requests at the same time.", ((b"retry-after", b"1"),))
            exchange = _Exchange()
            running.add(exchange)
            try:
                body = await self._body(headers, receive) if scope["method"] == "POST" else b""
                await self._pass_on(scope, body, receive, send, exchange)
            finally:
                running.discard(exchange)
        except _Refused as refused:
            await _reply(send, refused.status, {"error": refused.text}, refused.headers)

    def _check(self, scope: Scope, headers: dict[str, str]) -> None:
        """Refuse by place, name, path, rate; before the token is looked at."""
        if self._is_closing:
            raise _Refused(503, "The server is stopping.")
        host = headers.get("host", "")
        if not self._is_known(host):
            raise _Refused(421, "This Host is not served here; --http-allow adds a name.")
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin, host):
            raise _Refused(403, "Requests of web pages of this Origin are refused; --http-allow adds a name.")
        if not self._requests.take(_peer(scope)):
            raise _Refused(429, "Too many requests.", ((b"retry-after", b"1"),))
        if scope["path"] not in (PATH, HEALTH_PATH):
            raise _Refused(404, f"There is only {PATH} and {HEALTH_PATH} here.")

    def _check_token(self, scope: Scope, headers: dict[str, str]) -> None:
        wanted = self._access.token
        if wanted is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        same = hmac.compare_digest(given.strip().encode("latin-1", "replace"), wanted.encode())
        if scheme.casefold() == "bearer" and same:
            return
        if not self._failures.take(_peer(scope)):
            raise _Refused(429, "Too many requests without the right token.", ((b"retry-after", b"10"),))
        raise _Refused(
            401, "Send the header Authorization: Bearer and the server's token.", ((b"www-authenticate", b"Bearer"),)
        )

    def _is_known(self, host: str) -> bool:
        """Whether the value of a Host header names this server."""
        name = _name(host)
        if name is None:
            return False
        if is_loopback(name) or name in self._access.names:
            return True
        return self._access.any_literal and ip_literal(name) is not None

    def _is_ours(self, origin: str, host: str) -> bool:
        """Whether a page may ask: one from this very host and port, or from a name the operator allowed."""
        try:
            parts = urlsplit(origin)
            name = parts.hostname
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or name is None or parts.path or parts.query:
            return False
        return parts.netloc.casefold() == host.casefold() or name.casefold() in self._access.names

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes:
        """The whole body, within its caps."""
        too_large = _Refused(413, f"The body is over {self._limits.body_bytes:,} bytes.")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._limits.body_bytes:
            raise too_large
        body = bytearray()
        with anyio.move_on_after(self._limits.body_s) as waiting:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _Refused(400, "The request ended early.")
                body += message.get("body", b"")
                if len(body) > self._limits.body_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
        assert waiting.cancelled_caught
        raise _Refused(408, "The body took too long.")

    async def _pass_on(self, scope: Scope, body: bytes, receive: Receive, send: Send, exchange: "_Exchange") -> None:
        """Let the application answer; meanwhile listen for the client's going."""
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            if parts:
                return parts.pop()
            await exchange.left.wait()
            return {"type": "http.disconnect"}

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            exchange.end()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                await self._app({**scope, GONE: exchange.gone}, replay, _plain(send))
                tasks.cancel_scope.cancel()
        finally:
            exchange.gone.set()

    async def _say_health(self, scope: Scope, send: Send) -> None:
        """Whether the vault can be asked; nothing about what is in it."""
        if scope["method"] not in ("GET", "HEAD"):
            raise _Refused(405, "Only GET is answered here.", ((b"allow", b"GET, HEAD"),))
        state = self._health()
        await _reply(send, 503 if state == "failed" else 200, {"status": state})


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name. Two Host, Origin or Authorization headers are refused: which one would count?"""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in headers and key in ("host", "origin", "authorization", "content-length"):
            raise _Refused(400, f"The header {key} was sent twice.")
        headers[key] = value.decode("latin-1")
    return headers


def _name(host: str) -> str | None:
    """The host of a Host header, folded and without its port; None for what is none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where the port is none
    except ValueError:
        return None
    if parts.hostname is None or parts.netloc != host or "@" in host:
        return None
    return parts.hostname.casefold()


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _plain(send: Send) -> Send:
    """``send`` that tells browsers to take no answer for anything else than it says it is, and to keep none."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", []) if pair[0].lower() != b"x-content-type-options"]
            message = {**message, "headers": [*kept, (b"x-content-type-options", b"nosniff")]}
        await send(message)

    return send_with_headers


async def _reply(send: Send, status: int, data: dict[str, str], headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    body = json.dumps(data).encode()
    fixed = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *headers,
    ]
    if status in (408, 413, 503):
        fixed.append((b"connection", b"close"))  # what is left of a body is not read
    await send({"type": "http.response.start", "status": status, "headers": fixed})
    await send({"type": "http.response.body", "body": body})
