"""Break the cache in every way there is, and see that nothing is lost, nothing is wrong, and nothing crashes.

usage: python benchmarks/cache_faults.py [--writes N] [--damages N] [--lies N] [--opens N] [--saves N] [--seed N]

`--writes`: a process writes a container over an older one and is killed, or refused by the system, at a step drawn at
random: in the middle of a write, at fsync, at rename. Afterwards the old file or the new one is there, whole; what may
lie beside it is one temporary file, which the next writer removes; and no name was given to bytes that had not been
flushed. `--damages`: a cache with flipped bits, cut, extended, overwritten or with parts moved is loaded; it is
refused, or everything in it is exactly what it was. `--lies`: the same with right checksums, so that it is read: any
answer, but no crash and little memory. `--opens`: a vault is opened with a damaged cache in its folder and must answer
as a fresh build does. `--saves`: a process that saves an edited vault is killed at N of its steps, spread evenly over
all; a start after it must answer what is on disk. Exit code 1 when anything is wrong.
"""

import argparse
import errno
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from library_run import peak_mb

from vaultgraph.durable import remove_leftovers
from vaultgraph.errors import CorruptKglError, KglError, VaultgraphError
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.writer import write_sections

QUERIES = (
    "MATCH (n) RETURN labels(n), properties(n) ORDER BY n.id",
    "MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id, properties(r) ORDER BY a.id, b.id, type(r), r.line",
    "MATCH (n:Note) WHERE n.body CONTAINS 'words' RETURN n.path, n.body ORDER BY n.path",
    "CALL vault.problems()",
    "CALL vault.headings()",
)


# --- faults while writing ---------------------------------------------------------------------------------------


class Steps:
    """Counts the steps of the system that a writer takes, and fails at number ``at``: killed, or refused with ``code``.

    It stands in for the functions of `os` in a child process; a write that fails may have written a part.
    """

    def __init__(self, at: int, code: int | None, share: float) -> None:
        self.at, self.code, self.share = at, code, share
        self.count = 0
        self.unflushed: set[int] = set()
        for name in ("open", "write", "fsync", "close", "replace", "unlink"):
            setattr(os, name, self._of(name, getattr(os, name)))

    def _of(self, name: str, real: Any) -> Any:
        def step(*arguments: Any, **more: Any) -> Any:
            self.count += 1
            if self.count == self.at:
                if name == "write":
                    handle, data = arguments
                    real(handle, data[: int(len(data) * self.share)])
                if self.code is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                if name != "close":  # a handle is closed all the same
                    raise OSError(self.code, os.strerror(self.code))
            if name == "write":
                self.unflushed.add(arguments[0])
            elif name == "fsync":
                self.unflushed.discard(arguments[0])
            elif name == "replace" and self.unflushed:
                os._exit(3)
            return real(*arguments, **more)

        return step


def sections_of(seed: int) -> list[tuple[str, Any]]:
    """Some sections, other ones for another seed."""
    chance = random.Random(seed)
    return [(f"s{number}", chance.randbytes(chance.choice((0, 10, 5_000, 60_000)))) for number in range(4)]


def child(place: Path, at: int, code: int | None, share: float) -> int:
    """Write the new content in a process of its own that fails at step ``at``; its exit status, for 0 the steps."""
    process = os.fork()  # nothing with threads of its own is loaded here yet
    if process:
        return os.waitpid(process, 0)[1]
    status = 0
    steps = Steps(at, code, share)
    try:
        write_sections(place, sections_of(2), {"new": True})
    except OSError:
        status = 1
    os._exit(status if at else steps.count)


def check_writes(count: int, chance: random.Random) -> Counter[str]:
    """``count`` writes that fail somewhere; what came of them."""
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="vaultgraph-faults-") as name:
        folder = Path(name)
        place = folder / "graph.kgl"
        write_sections(place, sections_of(2), {"new": True})
        new = place.read_bytes()
        write_sections(place, sections_of(1), {})
        old = place.read_bytes()
        steps = os.WEXITSTATUS(child(folder / "other", 0, None, 0.0))
        (folder / "other").unlink()
        seen["steps of one write"] = steps
        for _ in range(count):
            code = chance.choice((None, None, errno.ENOSPC, errno.EIO))
            status = child(place, chance.randint(1, steps), code, chance.random())
            data, names = place.read_bytes(), {path.name for path in folder.iterdir()}
            beside = names - {"graph.kgl"}
            if data not in (old, new):
                seen["WRONG: neither the old nor the new file"] += 1
            if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3:
                seen["WRONG: named before it was flushed"] += 1
            if len(beside) > 1 or (beside and code is not None and data == old and not os.WIFSIGNALED(status)):
                # Refused by the system: only where removing the temporary file is what was refused may it stay.
                seen["left a temporary file after a refusal"] += 1
            for name in beside:
                os.utime(folder / name, (time.time() - 60, time.time() - 60))
            remove_leftovers(folder)
            if [path.name for path in folder.iterdir()] != ["graph.kgl"]:
                seen["WRONG: a leftover stays"] += 1
            seen["new file" if data == new else "old file"] += 1
            seen["killed" if os.WIFSIGNALED(status) else "refused" if os.WEXITSTATUS(status) else "went through"] += 1
            if data != old:
                place.write_bytes(old)
    return seen


# --- damaged files ----------------------------------------------------------------------------------------------


def damaged(data: bytes, chance: random.Random) -> bytes:
    """``data`` as an accident would leave it."""
    found = bytearray(data)
    at = chance.randrange(len(found))
    length = chance.choice((1, 8, 64, 512, 4096))
    match chance.randrange(8):
        case 0:
            for _ in range(chance.choice((1, 1, 2, 16))):
                found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
        case 1:
            del found[at:]
        case 2:
            del found[at : at + length]
        case 3:
            found[at : at + length] = bytes(len(found[at : at + length]))
        case 4:
            found[at : at + length] = chance.randbytes(len(found[at : at + length]))
        case 5:
            found[at:at] = chance.randbytes(length)
        case 6:  # two pages change places
            other = chance.randrange(len(found))
            one, two = found[at : at + length], found[other : other + length]
            if len(one) == len(two) and abs(at - other) >= length:
                found[at : at + length], found[other : other + length] = two, one
        case _:  # in the header, where all lengths and places are
            at = chance.randrange(64)
            found[at] = chance.randrange(256)
    return bytes(found)


def lying(path: Path, target: Path, chance: random.Random) -> None:
    """The file at ``path`` with something untrue in it and right checksums, at ``target``."""
    file = open_kgl(path)
    sections = {name: bytearray(file.section(name)) for name in file.names()}
    for _ in range(chance.choice((1, 1, 2, 4))):
        name = chance.choice(list(sections))
        data = sections[name]
        match chance.randrange(6):
            case 0 if data:
                data[chance.randrange(len(data))] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
            case 1:
                del data[chance.randrange(len(data) + 1) :]
            case 2:
                data += chance.randbytes(chance.choice((1, 4, 8, 64)))
            case 3:
                other = chance.choice(list(sections))
                sections[name], sections[other] = sections[other], sections[name]
            case 4:
                sections.pop(name)
            case _:
                bend(file.meta, chance)
        if not sections:
            break
    write_sections(target, sections.items(), file.meta)


def bend(value: Any, chance: random.Random) -> None:
    """Change something in the description of a file."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if not isinstance(value[key], dict | list) or not value[key] or chance.random() < 0.1:
            odd: list[Any] = [None, True, -1, 0, 1, 7, 2**31, 2**40, 2**70, 1.5, "", "text", [], {}, [[0, 1]]]
            value[key] = chance.choice(odd)
            return
        value = value[key]


def make_vault(folder: Path) -> None:
    """A small vault with all that a cache can hold; more than 64 rows, so that texts are shared."""
    folder.mkdir()
    for number in range(70):
        lists = "[1, two, 2024-05-06]" if number % 3 else "[a, b]"
        head = f"---\ntitle: Note {number}\nrating: {number if number % 2 else 'high'}\ntags: [t{number % 5}]\n"
        head += f"when: 2024-01-{number % 28 + 1:02}\nparts: {lists}\nflag: {'true' if number % 2 else 'false'}\n---\n"
        links = f"[[note{(number * 7) % 70}]] and [[missing {number % 4}|shown]] ![[pic{number % 3}.png]]"
        text = f"# Heading {number % 9}\n\nSome words ä {number} #in/{number % 3}\n\n{links}\n\n## Part\n^b{number}\n"
        (folder / f"note{number}.md").write_text(head + text, encoding="utf-8")
    for number in range(3):
        (folder / f"pic{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "bad.md").write_bytes(b"# \xff\xfe bytes")


def answers(graph: Any, records: Any, problems: Any) -> str:
    """A mark of all that a loaded cache says."""
    from vaultgraph.cypher.query import run_query
    from vaultgraph.vault.tables import procedure_tables

    tables = procedure_tables(records, problems)
    said = [repr(run_query(graph, text, {}, tables=tables).rows) for text in QUERIES]
    said += [repr(frame.rows()) for frame in records.tables().values()]
    return hashlib.sha256("\n".join(said).encode("utf-8", "surrogatepass")).hexdigest()


def check_files(damages: int, lies: int, opens: int, chance: random.Random) -> Counter[str]:
    """Damaged and lying caches, loaded by themselves and from a vault; what came of them."""
    from vaultgraph.graph.store import load
    from vaultgraph.vault.vault import open_vault

    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="vaultgraph-faults-") as name:
        vault = Path(name) / "vault"
        make_vault(vault)
        os.environ["XDG_CACHE_HOME"] = name
        cache, place = vault / ".kglite/graph.kgl", Path(name) / "x.kgl"
        with open_vault(vault) as opened:
            fresh = [repr(opened.query(text).rows) for text in QUERIES]
        good = cache.read_bytes()
        stored = load(cache)
        right = answers(stored.graph, stored.records, stored.problems)
        for kind, count in (("damaged", damages), ("lying", lies)):
            for _ in range(count):
                if kind == "damaged":
                    place.write_bytes(damaged(good, chance))
                else:
                    lying(cache, place, chance)
                try:
                    stored = load(place)
                    said = answers(stored.graph, stored.records, stored.problems)
                except CorruptKglError:
                    seen[f"{kind}: refused"] += 1
                except VaultgraphError as error:
                    seen[f"{kind}: {'refused' if isinstance(error, KglError) else 'an error of a query'}"] += 1
                else:
                    seen[f"{kind}: {'same answers' if said == right else 'other answers'}"] += 1
        seen["WRONG: other answers from a damaged file"] += seen["damaged: other answers"]
        for _ in range(opens):
            cache.write_bytes(damaged(good, chance))
            with open_vault(vault) as opened:
                said = [repr(opened.query(text).rows) for text in QUERIES]
                origin, remark = opened.report.origin, opened.report.cache or ""
            if said != fresh:
                seen["WRONG: other answers than a fresh build"] += 1
            if origin == "built" and not remark:
                seen["WRONG: rebuilt without a word"] += 1
            foreign = "not a file of vaultgraph" in remark
            seen[f"opened: {'left alone as foreign' if foreign else origin}"] += 1
            if not foreign and origin == "built" and cache.read_bytes() != good:
                seen["WRONG: not written anew"] += 1
            if foreign and cache.read_bytes() == good:
                seen["WRONG: a foreign file was replaced"] += 1
    return seen


# --- killed while saving a vault --------------------------------------------------------------------------------


def save_and_fail(vault: Path, at: int) -> None:
    """In a process of its own: edit, refresh, be killed at step ``at`` of saving; with 0 print how many there are."""
    from vaultgraph.vault.vault import open_vault

    opened = open_vault(vault)
    (vault / "note1.md").write_text(f"# Edited {at} by {os.getpid()}\n[[note2]]", encoding="utf-8")
    opened.refresh()
    steps = Steps(at, None, 0.5)
    opened.save()
    print(steps.count)
    os._exit(0)


def check_saves(count: int) -> Counter[str]:
    """Kill a process at ``count`` of the steps of saving; what came of them."""
    from vaultgraph.vault.vault import open_vault

    seen: Counter[str] = Counter()
    if not count:
        return seen
    with tempfile.TemporaryDirectory(prefix="vaultgraph-faults-") as name:
        vault = Path(name) / "vault"
        make_vault(vault)
        os.environ["XDG_CACHE_HOME"] = name
        open_vault(vault).close()

        def run(at: int) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, __file__, "--fail-saving", str(vault), str(at)]
            return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

        # How many there are depends on the age of the files: what is known of young ones is not written.
        steps = min(int(run(0).stdout) for _ in range(2))
        seen["steps of one save"] = steps
        for at in sorted({1 + round(number * (steps - 1) / max(1, count - 1)) for number in range(count)}):
            done = run(at)
            is_late = done.returncode == 0 and int(done.stdout) < at  # fewer steps this time
            seen["killed" if done.returncode == -signal.SIGKILL else "over" if is_late else "WRONG: not killed"] += 1
            with open_vault(vault) as opened:
                said = [repr(opened.query(text).rows) for text in QUERIES]
                seen[f"then read from: {opened.report.origin}"] += 1
                seen["WRONG: said to be damaged"] += bool(opened.report.cache)
            with open_vault(vault, None) as opened:
                seen["WRONG: other answers than a fresh build"] += said != [
                    repr(opened.query(text).rows) for text in QUERIES
                ]
    return seen


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description="Break the cache in every way there is.")
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--damages", type=int, default=10_000)
    parser.add_argument("--lies", type=int, default=5_000)
    parser.add_argument("--opens", type=int, default=1_000)
    parser.add_argument("--saves", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fail-saving", nargs=2, metavar=("VAULT", "STEP"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fail_saving:
        save_and_fail(Path(options.fail_saving[0]), int(options.fail_saving[1]))
    chance = random.Random(options.seed)
    begin = time.perf_counter()
    seen = check_writes(options.writes, chance)
    print(json.dumps(seen, indent=1), flush=True)
    found = check_files(options.damages, options.lies, options.opens, chance)
    print(json.dumps(found, indent=1), flush=True)
    killed = check_saves(options.saves)
    print(json.dumps(killed, indent=1))
    peak = peak_mb()
    print(f"{time.perf_counter() - begin:.0f} s, peak {peak:.0f} MB")
    is_wrong = any(count for text, count in (seen + found + killed).items() if text.startswith("WRONG")) or peak > 600
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
