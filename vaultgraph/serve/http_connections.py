"""Connections that hold on without asking or taking: given up after a while, and first to go where there are too many.

Between uvicorn and the operating system, before there is a request that http_guard could judge. A client must send a
whole head within `head_s` however it trickles, and must keep taking what is sent to it.
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


@dataclass(eq=False, slots=True)
class Connections:
    """The caps, and the connections without a whole head: they came first to last. For one event loop.

    ``most``: how many may be open, with or without a request. ``head_s``: for a head from its first moment, which is
    that of the connection or the end of the last request's. ``stall_s``: how long a client may take nothing of an
    answer that does not fit into the buffers between.
    """

    most: int
    head_s: float
    stall_s: float
    waiting: dict["GuardedProtocol", None] = field(default_factory=dict["GuardedProtocol", None])

    def protocol(self) -> Callable[..., asyncio.Protocol]:
        """What makes the protocol of a connection for uvicorn."""
        return partial(GuardedProtocol, self)


class GuardedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with time limits on both directions."""

    def __init__(self, guard: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._guard = guard
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head; where too many are open, one that waits has to go."""
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > self._guard.most:
            # Those that sit there without a request, the oldest first: who asks at once is never turned away for them.
            next(iter(self._guard.waiting)).drop()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that is still not whole keeps its time."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """The next head may begin."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget all about it."""
        self._stop_waiting()
        self._stop_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The buffers are full: the client has to take something."""
        super().pause_writing()
        self._watch_stall(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """It did."""
        super().resume_writing()
        self._stop_stall()

    def drop(self) -> None:
        """End the connection now, with all that waits to be sent: the system would go on offering it."""
        opened = self.transport.get_extra_info("socket")
        if opened is not None:
            with contextlib.suppress(OSError):
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _look(self) -> None:
        """Wait for a head while no request is being answered; what is left of a refused one's body is no reason to."""
        is_between = not self.cycle or self.cycle.response_complete
        if is_between and not self.transport.is_closing():
            self._wait_for_head()
        else:
            self._stop_waiting()

    def _wait_for_head(self) -> None:
        if self._head_timer is None:
            self._guard.waiting[self] = None
            self._head_timer = self.loop.call_later(self._guard.head_s, self.drop)

    def _stop_waiting(self) -> None:
        self._guard.waiting.pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _watch_stall(self, left: int) -> None:
        """Look again later whether less than ``left`` bytes wait to be taken."""
        self._stop_stall()
        self._stall_timer = self.loop.call_later(self._guard.stall_s, self._end_stall, left)

    def _end_stall(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._watch_stall(left)
        else:
            self.drop()

    def _stop_stall(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
