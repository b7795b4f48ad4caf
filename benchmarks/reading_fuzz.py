"""Throws random notes at the whole product: nothing may crash or hang, and every note must be a node.

    python benchmarks/reading_fuzz.py [--notes 2000] [--seed 1] [--batch 200]

Notes are random bytes, Markdown made to be misread, random YAML and mixtures, under random names. Each batch is read
directly and then written to a temporary folder and opened as a vault without a cache. Prints the seconds of each batch;
exits with 1 and the seed if a note is missing. A crash is left to be seen.
"""

import argparse
import random
import sys
import tempfile
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from odd_markdown import odd_bodies

import vaultgraph
from vaultgraph.note.read import read_notes

YAML: Final = (
    "a: ", "b: ", "é k: ", "tags: ", "aliases: ", "title: ", "id: ", "type: ", "parent: ", "name: ", "path: ", "\n",
    "\n", "\n", "\n", "  ", "- ", "[", "]", "{", "}", ", ", "x", "y z", "1", "-1.5", "1e400", "true", "null", "~",
    "2024-01-01", "2024-13-45", "2024-01-01T10:00", "99999999999999999999", '"', "'", "&x ", "*x", "!!int ", "!x ",
    "|\n", ">-\n", '"[[n]]"', "[[n]]", "{{d}}", "#t", " # c", ": ", "? ", "@", "%", "`", "\t", "\\ud800", '"\\ud800"',
    '"\\u0000"', "---\n", "...\n", "<<: ", "=", "日記", "🎉",
)  # fmt: skip
NAMES: Final = (
    "a", "B", "é", "e\u0301", "ß", "İ", "日記", "🎉", ".", "..", "[", "]", "#", "^", "|", "(", ")", "%20", "%", "'",
    " ", '"', "&", "~", "$", "-", "_", "{x}", ",", ";", "=", "\u200b", "\u202e", "\xa0", "README", "index", "1",
)  # fmt: skip
LINKS: Final = ("[[{}]]", "![[{}]]", "[x]({})", "[x](<{}>)", "[[{}#h]]", "[[{}|t]]", "[[./{}]]", "[[../{}]]", "#{}")
MOST_NAME_BYTES = 200


def random_name(source: random.Random) -> str:
    """A vault-relative path of a note."""
    parts = [part for _ in range(source.choice((1, 1, 1, 2, 3))) if (part := _part(source))]
    return "/".join(parts or ["n"]) + source.choice((".md", ".md", ".md", ".MD", ".Md"))


def _part(source: random.Random) -> str:
    text = "".join(source.choices(NAMES, k=source.randint(1, 6))).strip().lstrip(".")
    return text.encode()[:MOST_NAME_BYTES].decode(errors="ignore")


def random_note(source: random.Random, names: Sequence[str]) -> bytes:
    kind = source.random()
    if kind < 0.1:
        return source.randbytes(source.randint(0, 400))
    body = "\n".join(odd_bodies(source.randrange(1 << 30), source.randint(0, 3)))
    links = " ".join(source.choice(LINKS).format(source.choice(names).removesuffix(".md")) for _ in range(3))
    front = "".join(source.choices(YAML, k=source.randint(0, 25)))
    text = f"---\n{front}\n---\n{body}\n{links}" if kind < 0.6 else f"{body}\n{links}"
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and kind > 0.9:
        for _ in range(3):
            data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data).replace(b"\n", source.choice((b"\n", b"\n", b"\r\n", b"\r")))


def random_notes(seed: int, count: int) -> dict[str, bytes]:
    """Notes by path; no two paths that a file system may take for one, and no folder that is a file."""
    source = random.Random(seed)
    names: dict[str, str] = {}
    folders: set[str] = set()
    while len(names) < count:
        name = random_name(source)
        key = unicodedata.normalize("NFC", name).casefold()
        above = {key[:at] for at, character in enumerate(key) if character == "/"}
        if key not in names and key not in folders and above.isdisjoint(names):
            names[key] = name
            folders |= above
    paths = list(names.values())
    return {path: random_note(source, paths) for path in paths}


def missing_notes(notes: dict[str, bytes], folder: Path) -> set[str]:
    """Reads ``notes`` directly and through a vault written to ``folder``; the paths that are no node."""
    records = read_notes(list(notes), list(notes.values()))
    missing = set(notes) - set(records.notes["path"])
    skipped = set(records.notes.filter(records.notes["is_skipped"])["path"])
    for path, data in notes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    with vaultgraph.open(folder, cache=None) as vault:
        rows = vault.query("MATCH (n:Note) WHERE n.file_path IS NOT NULL RETURN n.path AS path").rows
        return missing | (set(notes) - {str(row[0]) for row in rows} - skipped)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=200)
    options = parser.parse_args()
    for number in range(-(-options.notes // options.batch)):
        seed = options.seed + number
        notes = random_notes(seed, options.batch)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            missing = missing_notes(notes, Path(folder))
        print(f"seed {seed:6} {len(notes)} notes {time.perf_counter() - started:7.2f} s", flush=True)
        if missing:
            print(f"no node for {sorted(missing)}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
