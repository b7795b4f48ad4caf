"""Holds reading against markdown-it-py: every note of every vault, then notes made to be misread.

    python benchmarks/regions_check.py [VAULT …] [--random 20000] [--seed 1] [--show 5]

A VAULT is a folder or a packed vault; without any, all of $VAULTGRAPH_SHARED/vaults. Prints for each how many notes and
lines were judged, how many notes went to the exact reader, and how many differ from the oracle of plain_markdown.py,
once for what may hold a link, a tag or a block id and once for every line. Exits with 1 if any differ.
"""

import argparse
import os
import sys
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from odd_markdown import odd_bodies
from plain_markdown import PlainMarkdown, differences

from vaultgraph.note.frontmatter import front_of
from vaultgraph.note.lines import split_lines
from vaultgraph.note.regions import find_regions
from vaultgraph.note.stretches import find_stretches

SHARED = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[2] / "shared"))
BATCH = 500


def notes_of(vault: Path) -> Iterator[tuple[str, str]]:
    """Path and body, with LF as line ends, of each note of a folder or a packed vault."""
    if vault.is_dir():
        files = ((str(path.relative_to(vault)), path.read_bytes()) for path in sorted(vault.rglob("*.md")))
        yield from ((name, body) for name, data in files if (body := body_of(data)) is not None)
        return
    with tarfile.open(vault) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.lower().endswith(".md") else None
            if file is not None and (body := body_of(file.read())) is not None:
                yield member.name, body


def body_of(data: bytes) -> str | None:
    """What follows the frontmatter of a note; None where it is not UTF-8."""
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return None
    _, size, _ = front_of(text.encode())
    return text.encode()[size:].decode().replace("\r\n", "\n").replace("\r", "\n")


def check(name: str, notes: Sequence[tuple[str, str]], oracle: PlainMarkdown, show: int) -> int:
    """Prints one row for ``notes``; how many differ."""
    started = time.perf_counter()
    lines, exact, differing, shown = 0, 0, {False: 0, True: 0}, 0
    for at in range(0, len(notes), BATCH):
        batch = notes[at : at + BATCH]
        bodies = [body for _, body in batch]
        split = split_lines(bodies)
        regions = find_regions(split)
        find_stretches(split, regions)
        lines, exact = lines + len(split.text), exact + int(np.count_nonzero(regions.hard))
        for every_line in (False, True):
            found = differences(bodies, oracle, every_line=every_line)
            differing[every_line] += len({difference.body for difference in found})
            for difference in found[: max(show - shown, 0)]:
                shown += 1
                print(f"  {batch[difference.body][0]}: {difference.what}: {difference.found} != {difference.expected}")
                print(f"    {batch[difference.body][1][:300]!r}")
    seconds = time.perf_counter() - started
    print(
        f"{name:28} {len(notes):7} notes {lines:9} lines {exact:6} exact "
        f"{differing[False]:5} differ {differing[True]:5} differ in any line {seconds:7.1f} s",
        flush=True,
    )
    return differing[False] + differing[True]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vaults", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=20_000, help="how many made notes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    options = parser.parse_args()
    oracle = PlainMarkdown()
    wrong = 0
    for vault in options.vaults or sorted((SHARED / "vaults").glob("*.tar.xz")):
        wrong += check(vault.name.removesuffix(".tar.xz"), list(notes_of(vault)), oracle, options.show)
    made = [(f"seed {options.seed}, {at}", body) for at, body in enumerate(odd_bodies(options.seed, options.random))]
    wrong += check("made to be misread", made, oracle, options.show)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
