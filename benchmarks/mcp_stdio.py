"""A small MCP client over a child's pipes, for timing: it counts the bytes of replies and never waits for ever.

It speaks just enough of the protocol (handshake, tools/list, tools/call) and knows no server. The project's tests drive
the server with the official client; this one exists because a stopwatch must weigh as little as possible.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sides import SideError


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is the JSON-RPC message, ``size_bytes`` its line on the wire, ``elapsed_ms`` the round trip."""

    body: dict[str, Any]
    size_bytes: int
    elapsed_ms: float

    @property
    def failed(self) -> bool:
        """Whether the server answered with an error of either kind."""
        return "error" in self.body or bool(self.body["result"].get("isError"))

    @property
    def text(self) -> str:
        """All text of a tool result."""
        content = self.body.get("result", {}).get("content", [])
        return "\n".join(part.get("text", "") for part in content)


class Server:
    """A running server.

    ``spawned`` is the clock just before it was started, ``hello`` the handshake's reply, ``initialize_ms`` its time.
    """

    def __init__(self, command: list[str], timeout_s: float = 60.0) -> None:
        self.timeout_s = timeout_s
        self._buffer = b""
        self._last_id = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self.spawned = time.perf_counter()
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0
            )
        except OSError as error:
            self._errors.close()
            raise SideError(f"{command[0]} does not start: {error.strerror}") from error
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        try:
            self.hello = self.request("initialize", hello)
            self.initialize_ms = self.since_spawn_ms()
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except SideError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def since_spawn_ms(self) -> float:
        """Milliseconds since just before the process was started."""
        return (time.perf_counter() - self.spawned) * 1e3

    def request(self, method: str, params: dict[str, Any]) -> Reply:
        """One request and its reply.

        Raises: SideError when the server ends or stays silent.
        """
        self._last_id += 1
        begin = time.perf_counter()
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        while True:
            line = self._line(begin + self.timeout_s, method)
            elapsed_ms = (time.perf_counter() - begin) * 1e3
            message = json.loads(line)
            if message.get("id") == self._last_id and ("result" in message or "error" in message):
                return Reply(message, len(line), elapsed_ms)

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """One tools/call."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def peak_mb(self) -> float:
        """The most memory the server and its children ever held, together; not a number where /proc is missing."""
        family = [self.process.pid, *_children(self.process.pid)]
        return sum(_high_water_mb(pid) for pid in family)

    def close(self) -> None:
        """Close its input, wait, and kill what is left after ten seconds."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._errors.close()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise SideError(f"the server ended: {self._last_words()}") from error

    def _line(self, deadline: float, method: str) -> bytes:
        assert self.process.stdout
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.perf_counter()))
            if not ready:
                raise SideError(f"no reply to {method} after {self.timeout_s:.0f} s: {self._last_words()}")
            part = os.read(descriptor, 1 << 20)
            if not part:
                raise SideError(f"the server ended: {self._last_words()}")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line + b"\n"

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "nothing on its stderr"


def _children(pid: int) -> list[int]:
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [
        child for path in lists for word in path.read_text().split() for child in (int(word), *_children(int(word)))
    ]


def _high_water_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
