"""Does every answer show what was written before the question? A writer process edits, a client asks over stdio.

usage: python benchmarks/fresh_answers.py [--edits N] [--free N] [--notes N] [--seed N] [--watch auto|source|poll]

`--edits`: after each edit (in place, with size and time restored, by a temporary file and rename, as vim saves, in
folders made at that moment, by moving folders about, in and out, by removing) the client asks once. `--free`: the
writer makes folders four deep with a note in each as fast as it can, while the client asks; each answer must hold every
note that was closed before the question. `--watch source`: as auto, but through watchfiles, as on a system without
inotify; on Linux a note in a folder so new that it has no watch yet may then be late. Prints stale answers and how long
it took from closing the file to the answer. Exit code 1 when an answer was stale.
"""

import argparse
import json
import os
import random
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from mcp_stdio import Server
from measures import first_count

FIND = "MATCH (n:Note) WHERE n.title = $title RETURN n.path AS path"
COUNT_FREE = "MATCH (n:Note) WHERE n.path STARTS WITH 'free/' RETURN count(n) AS found"
Expected = tuple[str, str | None]  # a title, and the path of the one note that has it


class Editor:
    """Edits a vault in every way; each edit gives titles and where they must be found afterwards."""

    def __init__(self, vault: Path, notes: int, seed: int) -> None:
        self.vault = vault
        self.outside = vault.parent / "outside"
        self.outside.mkdir()
        self.chance = random.Random(seed)
        self.known: dict[str, str] = {}  # path → title
        for number in range(notes):
            self._note(f"folder {number % 20}/note {number}.md", f"first {number:06}")

    def edit(self, number: int) -> tuple[str, list[Expected]]:
        """One edit of a kind drawn at random; its name and what must hold."""
        kinds = (
            self.write,
            self.restore,
            self.replace,
            self.vim,
            self.deep,
            self.move_folder,
            self.rename,
            self.remove,
        )
        kind = self.chance.choice((*kinds, self.move_in, self.move_out))
        return kind.__name__, kind(f"title {number:06}")

    def write(self, title: str) -> list[Expected]:
        path = self._any()
        return self._note(path, title)

    def restore(self, title: str) -> list[Expected]:
        file = self.vault / self._any()
        before = file.stat()
        found = self._note(file.relative_to(self.vault).as_posix(), title)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        return found

    def replace(self, title: str) -> list[Expected]:
        path = self._any()
        file = self.vault / path
        other = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        other.write_text(f"# {title}\n")
        other.replace(file)
        return self._now(path, title)

    def vim(self, title: str) -> list[Expected]:
        path = self._any()
        file = self.vault / path
        backup = file.with_name(f"{file.name}~")
        file.rename(backup)
        file.write_text(f"# {title}\n")
        backup.unlink()
        return self._now(path, title)

    def deep(self, title: str) -> list[Expected]:
        folder = "/".join(f"{level}{self.chance.randrange(5)}" for level in "abcd")
        return self._note(f"{folder}/{title}.md", title)

    def rename(self, title: str) -> list[Expected]:
        old = self._any()
        new = f"{old.rpartition('/')[0]}/{title} renamed.md"
        (self.vault / old).rename(self.vault / new)
        self.known[new] = self.known.pop(old)
        return [(self.known[new], new)]

    def remove(self, title: str) -> list[Expected]:
        path = self._any()
        (self.vault / path).unlink()
        gone = self.known.pop(path)
        self._note(f"folder 1/{title}.md", title)  # so that there is always something left
        return [(gone, None), (title, f"folder 1/{title}.md")]

    def move_folder(self, title: str) -> list[Expected]:
        top = self._any().split("/")[0]
        new = f"moved {title}"
        (self.vault / top).rename(self.vault / new)
        inside = [path for path in self.known if path.startswith(f"{top}/")]
        for path in inside:
            self.known[new + path[len(top) :]] = self.known.pop(path)
        last = new + inside[-1][len(top) :]
        return [*self._note(f"{new}/{title}.md", title), (self.known[last], last)]

    def move_in(self, title: str) -> list[Expected]:
        folder = self.outside / title
        (folder / "x" / "y").mkdir(parents=True)
        (folder / "x" / "y" / "in.md").write_text(f"# {title}\n")
        folder.rename(self.vault / title)
        return self._now(f"{title}/x/y/in.md", title)

    def move_out(self, title: str) -> list[Expected]:
        top = self._any().split("/")[0]
        (self.vault / top).rename(self.outside / f"{title} out")
        gone = [self.known.pop(path) for path in list(self.known) if path.startswith(f"{top}/")]
        (self.vault / top).mkdir()  # another folder of the same name
        return [(gone[-1], None), *self._note(f"{top}/{title}.md", title)]

    def _any(self) -> str:
        return self.chance.choice(list(self.known))

    def _note(self, path: str, title: str) -> list[Expected]:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {title}\n")
        return self._now(path, title)

    def _now(self, path: str, title: str) -> list[Expected]:
        old = self.known.get(path)
        self.known[path] = title
        return [(title, path), *([(old, None)] if old else [])]


def write_edits(vault: Path, notes: int, seed: int) -> None:
    """The writer process: an edit for each line on stdin; says what must hold, and when it was done."""
    editor = Editor(vault, notes, seed)
    print(json.dumps("ready"), flush=True)
    for number, _ in enumerate(sys.stdin):
        kind, expected = editor.edit(number)
        print(json.dumps([kind, expected, time.perf_counter()]), flush=True)


def write_freely(vault: Path, count: int) -> None:
    """The other writer process: notes in new folders, one after the other; a line for each that was closed."""
    for number in range(count):
        folder = vault / "free" / f"{number % 7}" / f"{number // 7 % 11}" / f"{number}"
        folder.mkdir(parents=True)
        (folder / "note.md").write_text(f"# free {number}\n")
        os.write(1, b".")


def check_edits(server: Server, writer: "subprocess.Popen[str]", count: int) -> int:
    """Ask after each edit; prints the times by kind and returns how many answers were stale."""
    assert writer.stdin
    assert writer.stdout
    took: dict[str, list[float]] = defaultdict(list)
    stale = 0
    for _ in range(count):
        writer.stdin.write("\n")
        writer.stdin.flush()
        kind, expected, closed = json.loads(writer.stdout.readline())
        for place, (title, path) in enumerate(expected):
            rows = ask(server, FIND, {"title": title})
            if place == 0:
                took[kind].append((time.perf_counter() - closed) * 1e3)
            if rows != ([path] if path else []):
                stale += 1
                print(f"stale after {kind}: {title} is at {rows}, not at {path}", file=sys.stderr)
    for kind, values in sorted(took.items()):
        print(
            f"{kind:12} {len(values):5} edits   median {statistics.median(values):6.1f} ms   most {max(values):6.1f} ms"
        )
    return stale


def check_free(server: Server, vault: Path, count: int) -> int:
    """Ask while the other writer works; returns how many answers lacked a note that was closed before."""
    command = [sys.executable, __file__, "--write-free", str(vault), "--free", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        done = asked = stale = 0
        is_open = True
        while is_open:
            while select.select([writer.stdout], [], [], 0)[0]:
                part = os.read(writer.stdout.fileno(), 65536)
                done += len(part)
                if not part:
                    is_open = False
                    break
            found = int(ask(server, COUNT_FREE, {})[0])
            asked += 1
            if found < done:
                stale += 1
                print(f"stale: {found} notes, {done} were closed before", file=sys.stderr)
    print(f"{count} notes in new folders, {asked} answers meanwhile, {stale} stale")
    return stale


def ask(server: Server, query: str, params: dict[str, Any]) -> list[str]:
    """The first column of the rows."""
    reply = server.call("cypher_query", {"query": query, "params": params, "format": "json"})
    rows = reply.body["result"]["structuredContent"]["rows"]
    return [str(row[0]) for row in rows]


def main() -> int:
    """Run both checks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--free", type=int, default=2000)
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--watch", choices=("auto", "source", "poll"), default="auto")
    parser.add_argument("--write-edits", help=argparse.SUPPRESS)
    parser.add_argument("--write-free", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write_edits:
        write_edits(Path(options.write_edits), options.notes, options.seed)
        return 0
    if options.write_free:
        write_freely(Path(options.write_free), options.free)
        return 0
    with tempfile.TemporaryDirectory(prefix="vaultgraph-fresh-") as base:
        vault = Path(base) / "vault"
        vault.mkdir()
        command = [sys.executable, __file__, "--write-edits", str(vault), "--notes", str(options.notes)]
        mode = "auto" if options.watch == "source" else options.watch
        serve = [str(Path(sys.executable).parent / "vaultgraph"), "--vault", str(vault), "--watch", mode]
        if options.watch == "source":
            (Path(base) / "inotify_simple.py").write_text("raise ImportError\n")
            os.environ["PYTHONPATH"] = os.pathsep.join([base, *filter(None, [os.environ.get("PYTHONPATH")])])
        with subprocess.Popen(
            [*command, "--seed", str(options.seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout
            writer.stdout.readline()
            with Server(serve) as server:
                first_count(server)
                stale = check_edits(server, writer, options.edits)
                print(f"{options.edits} edits, {stale} stale answers")
                stale += check_free(server, vault, options.free)
            assert writer.stdin
            writer.stdin.close()
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
