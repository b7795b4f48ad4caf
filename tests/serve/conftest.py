"""Small vaults on disk, sessions over them, and the real server process behind the official client."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult
from PIL import Image

from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault

SERVER = [sys.executable, "-m", "vaultgraph.cli.main"]


def image_bytes(size=(8, 6), kind="PNG", color="red"):
    target = io.BytesIO()
    Image.new("RGB", size, color).save(target, kind)
    return target.getvalue()


VAULT: Mapping[str, str | bytes] = {
    "Home.md": "---\naliases: [Start]\nstatus: active\n---\n# Home\n\nSee [[Boats/Selkie]] and [[Gone]]. #sea\n",
    "Boats/Selkie.md": "---\ntype: Boat\nlength: 7.5\nbuilt: 1998-05-02\n---\n# Selkie\n\n![[selkie.png|120]]\n"
    "\n## Rig\n\nGaff.\n\n### Sails\n\nTwo.\n\n## Crew\n\n[[Home]]\n",
    "Boats/Fulmar.md": "---\ntype: Boat\nlength: 9\n---\n# Fulmar\n",
    "Log/Broken.md": "---\ntags: [a\n---\nBroken [[Home]]\n",
    "Log/Latin.md": b"caf\xe9",
    "media/selkie.png": image_bytes(),
    "media/chart.jpg": image_bytes((20, 10), "JPEG"),
    "media/fake.png": b"this is text",
    "media/drawing.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
}


@pytest.fixture(scope="session")
def make_image() -> Callable[..., bytes]:
    return image_bytes


def fill(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.fixture
def sample(write: Callable[[Mapping[str, str | bytes]], Path]) -> Path:
    """A vault with links, a label, images and two faulty notes."""
    return write(VAULT)


class Local:
    """A session in this process and the operations on it."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def call(self, name: str, /, **arguments: Any):
        return dispatch(self.session, name, arguments)

    def text(self, name: str, /, **arguments: Any) -> str:
        answer = self.call(name, **arguments)
        assert not answer.is_error, answer.text
        return answer.text

    def error(self, name: str, /, **arguments: Any) -> str:
        answer = self.call(name, **arguments)
        assert answer.is_error, answer.text
        return answer.text


@pytest.fixture
def local() -> Iterator[Callable[..., Local]]:
    """Serve a folder in this process, without watching: `local(folder)`."""
    opened: list[Session] = []

    def start(folder: Path, *, cache: str | None = None, wait_s: float = 30.0) -> Local:
        root = VaultRoot.open(folder)
        session = Session(
            root,
            lambda progress: open_vault(folder, cache, progress=progress, build=False),
            name=root.name,
            wait_s=wait_s,
        )
        opened.append(session)
        session.start()
        return Local(session)

    yield start
    for session in opened:
        session.wait_built(30.0)
        session.close()


class Remote:
    """The official client of a server process, driven from this thread."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        return self._portal.call(self.client.call_tool, name, arguments)

    def text(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        text = "\n".join(part.text for part in result.content if part.type == "text")
        assert not result.is_error, text
        return text

    def error(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.is_error
        return result.content[0].text

    def tools(self):
        return self._portal.call(self.client.list_tools).tools

    def until(self, wanted: str, name: str, **arguments: Any) -> str:
        """Call until the text holds ``wanted``: an event of the file system may be on its way. Bounded."""
        for _ in range(20_000):
            text = self.text(name, **arguments)
            if wanted in text:
                return text
        raise AssertionError(f"never saw {wanted!r}; last: {text}")


@asynccontextmanager
async def _client(arguments: list[str], log: Path, mode: str):
    with log.open("w") as errlog:
        parameters = StdioServerParameters(command=SERVER[0], args=[*SERVER[1:], *arguments], env=dict(os.environ))
        async with Client(stdio_client(parameters, errlog=errlog), mode=mode, read_timeout_seconds=60) as client:
            yield client


Connect = Callable[..., AbstractContextManager[Remote]]


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Connect:
    """Start the real server on a folder and connect: `with connect(folder, "--watch", "off") as server`."""

    @contextmanager
    def start(folder: Path, *flags: str, mode: str = "legacy") -> Iterator[Remote]:
        log = tmp_path_factory.mktemp("log") / "stderr.txt"
        with start_blocking_portal() as portal:
            manager = portal.wrap_async_context_manager(_client(["--vault", str(folder), *flags], log, mode))
            client = manager.__enter__()
            try:
                yield Remote(portal, client)
            finally:
                # A failed assertion is not the client's: passed into it, it would come back buried in groups.
                manager.__exit__(None, None, None)

    return start


@pytest.fixture(scope="session")
def harbour(connect: Connect, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Remote, Path]]:
    """One server process on the sample vault for the tests that only look, and the folder it serves."""
    folder = fill(tmp_path_factory.mktemp("shared") / "harbour", VAULT)
    (folder.parent / "secret.md").write_text("secret")
    (folder / "leak.md").symlink_to(folder.parent / "secret.md")
    with connect(folder, "--name", "Harbour") as server:
        yield server, folder


class Wire:
    """The server process without a client library: lines of JSON in and out."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._id = 0

    def send(self, message: Any) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> bytes:
        return self.process.stdout.readline()

    def request(self, method: str, **params: Any) -> bytes:
        """The raw line that answers a request."""
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        return self.read()

    def handshake(self) -> dict[str, Any]:
        reply = self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return json.loads(reply)["result"]

    def tool(self, name: str, **arguments: Any) -> bytes:
        return self.request("tools/call", name=name, arguments=arguments)


@pytest.fixture
def wire() -> Iterator[Callable[..., Wire]]:
    """Start the real server on a folder: `wire(folder, *flags)`."""
    started: list[subprocess.Popen[bytes]] = []

    def start(folder: Path, *flags: str) -> Wire:
        process = subprocess.Popen(
            [*SERVER, "--vault", str(folder), *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        started.append(process)
        return Wire(process)

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):
                stream.close()
