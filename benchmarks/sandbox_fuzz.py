"""Hostile paths against every door to the files: `python benchmarks/sandbox_fuzz.py [--paths 2000] [--seed 1]`.

Makes a vault full of traps in a temporary folder beside files that must never be seen: links that lead out, a farm
of links, links in circles, pipes, sockets, devices where they can be made, hard links, odd names. Then asks for
generated paths (traversal, encodings, Windows forms, look-alike characters, mixtures) through the sandbox itself and
through read_source, grep, list_source, fetch_images and resources, while a thread swaps folders and files for links.
No answer may hold a byte of the files outside, none may take longer than a limit, and no handle may stay open.
"""

import argparse
import json
import os
import random
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Event
from urllib.parse import quote

from vaultgraph.errors import VaultgraphError
from vaultgraph.files.root import VaultRoot
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.resources import complete_path, list_resources, read_resource
from vaultgraph.serve.session import Session
from vaultgraph.vault.vault import open_vault

SECRET = "NEVER-TO-BE-SEEN"
LIMIT_S = 10.0
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
SEPARATORS = ["/", "/", "/", "\\", "//", "/./", "%2f", "%5c", "\u2215", "\u2044", "\uff0f", "%c0%af", "%252f"]
UPS = [
    "..",
    "..",
    "..",
    "...",
    ". .",
    "..;",
    "%2e%2e",
    ".%2e",
    "%252e%252e",
    "\uff0e\uff0e",
    "\u2024\u2024",
    ".. ",
    " ..",
    "..\u200b",
    "..\0",
    "..\t",
    "....//",
]
STARTS = [
    "",
    "",
    "",
    "/",
    "\\",
    "//",
    "\\\\",
    "~/",
    "~root/",
    "C:",
    "C:\\",
    "c:/",
    "\\\\?\\",
    "\\\\.\\",
    "file:",
    "file:///",
    "FILE://localhost/",
    "vault://",
    "./",
    "././",
    "\\\\server\\share\\",
    "//server/share/",
    "\ufeff",
    " ",
    "\t",
    "\u202e",
    "./C:",
    "http://localhost/",
    "proc:",
    "-",
]
DEVICES = [
    "CON",
    "NUL",
    "PRN",
    "AUX",
    "COM1",
    "LPT1",
    "nul.md",
    "con.png",
    "Note.md::$DATA",
    "Note.md:stream",
    "NOTE~1.MD",
    "Note.md.",
    "Note.md ",
    "Folder.",
]
INSIDE = [
    "Note.md",
    "Folder",
    "Folder/Note.md",
    "Folder/pic.png",
    "a b.md",
    "%2e%2e",
    "x%00.md",
    "\u212a.md",
    "swap",
    "swap.md",
    "swap/Note.md",
    "swap/secret.md",
    "flip/secret.md",
    "flip.png",
]
TRAPS = [
    "out",
    "out/secret.md",
    "out/inner/secret.md",
    "out.md",
    "out.png",
    "up",
    "up/outside/secret.md",
    "up/up2/secret.md",
    "chain9.md",
    "chain9",
    "circle",
    "circle/x",
    "me",
    "me/me/me/Note.md",
    "farm/l7/l3/secret.md",
    "farm/l7/l3/l5/l1/Note.md",
    "proc",
    "proc/environ",
    "proc/root/etc/passwd",
    "proc/fd/0",
    "dev",
    "dev/zero",
    "zero.md",
    "tty.md",
    "pipe.md",
    "pipe.png",
    "sock.md",
    "device.md",
    "hard.md",
    "absolute.md",
    "relative.md",
    "nested/out/secret.md",
    "gone.md",
]
OUTSIDE = [
    "secret.md",
    "outside/secret.md",
    "outside/secret.png",
    "outside",
    "etc/passwd",
    "proc/self/environ",
    "dev/zero",
    "dev/stdin",
    "vaultx/secret.md",
]
HIDDEN = [".git/config", ".env", ".obsidian/app.json", ".kglite/.secret", ".kglite/../.env", "Folder/.hidden.md"]


def make_traps(place: Path) -> Path:
    """A vault below ``place`` and the secrets around it."""
    vault = place / "vault"
    for folder in (
        "vault/Folder",
        "vault/nested",
        "vault/farm",
        "vault/.git",
        "vault/.kglite",
        "outside/inner",
        "vaultx",
    ):
        (place / folder).mkdir(parents=True)
    for path in (
        "secret.md",
        "outside/secret.md",
        "outside/inner/secret.md",
        "outside/Note.md",
        "vaultx/secret.md",
        "vault/.git/config",
        "vault/.env",
        "vault/.kglite/.secret",
        "vault/Folder/.hidden.md",
    ):
        (place / path).write_text(f"# {SECRET}\n")
    (place / "outside/secret.png").write_bytes(PNG + SECRET.encode())
    for path in ("Note.md", "Folder/Note.md", "a b.md", "%2e%2e", "x%00.md", "\u212a.md"):
        (vault / path).write_text("# mine\n")
    (vault / "Folder/pic.png").write_bytes(PNG)
    links = {
        "out": "../outside",
        "out.md": "../outside/secret.md",
        "out.png": "../outside/secret.png",
        "up": "..",
        "circle": "circle",
        "me": ".",
        "proc": "/proc/self",
        "dev": "/dev",
        "zero.md": "/dev/zero",
        "tty.md": "/dev/tty",
        "absolute.md": str(place / "secret.md"),
        "relative.md": "Folder/../../secret.md",
        "nested/out": "../../outside",
        "gone.md": "../nothing.md",
        "chain0.md": "../secret.md",
        "chain0": "../outside",
    }
    for i in range(9):
        links[f"chain{i + 1}.md"], links[f"chain{i + 1}"] = f"chain{i}.md", f"chain{i}"
    for i in range(30):
        links[f"farm/l{i}"] = ("../farm", "../../outside", "..", f"l{(i + 1) % 30}")[i % 4]
    for name, target in links.items():
        (vault / name).symlink_to(target)
    os.mkfifo(vault / "pipe.md")
    os.mkfifo(vault / "pipe.png")
    with suppress(OSError):
        os.link(vault / "Note.md", vault / "hard.md")
    with suppress(OSError):
        os.mknod(vault / "device.md", 0o20666, os.makedev(1, 5))
    with suppress(OSError), socket.socket(socket.AF_UNIX) as server:
        server.bind(str(vault / "sock.md"))  # too long a path in some temporary folders
    return vault


def make_path(choose: random.Random) -> str:
    """One hostile path."""
    pieces: list[str] = [choose.choice(STARTS)]
    for _ in range(choose.choice((0, 0, 1, 1, 2, 3, 8))):
        pieces += [choose.choice(UPS if choose.random() < 0.7 else INSIDE + TRAPS), choose.choice(SEPARATORS)]
    pieces.append(choose.choice(choose.choice((INSIDE, TRAPS, TRAPS, OUTSIDE, OUTSIDE, HIDDEN, DEVICES))))
    path = "".join(pieces)
    match choose.randrange(12):
        case 0:
            path = quote(path, safe="")
        case 1:
            path = quote(path)
        case 2:
            path = path.upper()
        case 3:
            path = path.replace("/", "\\")
        case 4:
            place = choose.randrange(len(path) + 1)
            path = path[:place] + choose.choice("\0\n\r\t\u200b\u202e\ufeff\ud800%*?[]|#^<>\"'`$(){};&") + path[place:]
        case 5:
            path = f"[[{path}]]"
        case 6:
            path += choose.choice(("/", "/.", "/..", "#Heading", "#^block", "::$DATA", "\0.png", "x" * 5000))
        case _:
            pass
    return path


class Swapper(threading.Thread):
    """Puts links that lead out in the place of a folder and a file, and back, for as long as it runs."""

    def __init__(self, vault: Path) -> None:
        super().__init__(daemon=True)
        self.vault, self.stop, self.swaps = vault, Event(), 0
        for name in ("real", "flipreal"):
            (vault / name).mkdir()
            (vault / name / "Note.md").write_text("mine")
        (vault / "link").symlink_to("../outside")
        (vault / "realfile").write_text("mine")
        (vault / "linkfile").symlink_to("../secret.md")
        (vault / "flip.png").symlink_to("../outside/secret.png")

    def run(self) -> None:
        """Swap until stopped."""
        while not self.stop.is_set():
            for one, other in (
                ("real", "swap"),
                ("swap", "real"),
                ("link", "swap"),
                ("swap", "link"),
                ("realfile", "swap.md"),
                ("swap.md", "realfile"),
                ("linkfile", "swap.md"),
                ("swap.md", "linkfile"),
                ("flipreal", "flip"),
                ("flip", "flipreal"),
            ):
                with suppress(OSError):
                    (self.vault / one).rename(self.vault / other)
                    self.swaps += 1


def doors(session: Session, root: VaultRoot):
    """Every way to ask for a path: name and a function that gives what was answered."""

    def tool(name, **fixed):
        def ask(path):
            arguments = {key: path if value is ... else value for key, value in fixed.items()}
            arguments = {key: [path] if value == [...] else value for key, value in arguments.items()}
            answer = dispatch(session, name, arguments)
            return answer.text.encode("utf-8", "replace") + b"".join(
                getattr(part, "data", b"") for part in answer.parts
            )

        return ask

    return {
        "read_bytes": lambda path: root.read_bytes(path, most_bytes=100_000),
        "stat": lambda path: repr(root.stat(path)).encode(),
        "read_source": tool("read_source", file_path=...),
        "read_source grep": tool("read_source", file_path=..., grep="."),
        "grep": tool("grep", pattern="#", glob=...),
        "list_source": tool("list_source", path=..., depth=3),
        "list_source glob": tool("list_source", glob=...),
        "fetch_images": tool("fetch_images", items=[...]),
        "fetch_images small": tool("fetch_images", items=[...], max_edge=1),
        "resource": lambda path: str(read_resource(root, f"vault://{path}").data).encode("utf-8", "replace"),
        "complete": lambda path: repr(complete_path(root, path)[0]).encode("utf-8", "replace"),
    }


def run(place: Path, paths: int, seed: int) -> dict[str, object]:
    """Ask for ``paths`` paths, each through one door (every tenth through all); what happened, as counts.

    Raises:
        AssertionError: an answer held a secret, or took too long, or a handle stayed open.
    """
    vault = make_traps(place)
    choose = random.Random(seed)
    root = VaultRoot.open(vault)
    session = Session(root, lambda progress: open_vault(vault, None, progress=progress, build=False), name="traps")
    session.start()
    assert session.wait_built(60)
    swapper = Swapper(vault)
    handles = sum(1 for _ in Path("/proc/self/fd").iterdir())
    swapper.start()
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    everything = doors(session, root)
    try:
        for number in range(paths):
            path = make_path(choose)
            names = list(everything) if number % 10 == 0 else [choose.choice(list(everything))]
            for name in names:
                start = time.perf_counter()
                try:
                    answer = everything[name](path)
                    outcomes["answered"] += 1
                except VaultgraphError as error:
                    answer = error.message.encode("utf-8", "replace")
                    outcomes[error.code] += 1
                taken = time.perf_counter() - start
                slowest = max(slowest, taken)
                assert SECRET.encode() not in answer, f"{name} {path!r} leads out"
                assert b"internal:" not in answer[:9], f"{name} {path!r} is a fault: {answer!r}"
                assert taken < LIMIT_S, f"{name} {path!r} took {taken:.1f} s"
        listed = list_resources(root, None)[0]
        assert not [entry for entry in listed if "secret" in entry.path]
    finally:
        swapper.stop.set()
        swapper.join(10)
    session.vault().rebuild()
    for query in ("MATCH (n) RETURN n.path, n.body", "MATCH (n) RETURN n.title"):
        assert SECRET not in dispatch(session, "cypher_query", {"query": query}).text, "the graph holds a secret"
    left = sum(1 for _ in Path("/proc/self/fd").iterdir()) - handles
    session.close()
    assert left <= 0, f"{left} handles stayed open"
    return {
        "paths": paths,
        "asked": sum(outcomes.values()),
        "swaps": swapper.swaps,
        "slowest_ms": round(slowest * 1000, 1),
        "escaped": 0,
        "hung": 0,
        "outcomes": dict(outcomes.most_common()),
    }


def main() -> None:
    """Run on a temporary folder and print the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--paths", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="sandbox"))
    try:
        print(json.dumps(run(place, options.paths, options.seed), indent=1))
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
