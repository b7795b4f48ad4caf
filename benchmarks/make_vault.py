"""Write a vault of any size for benchmarks: the same arguments give the same bytes on every machine.

Notes are spread over folders and look like notes: frontmatter, headings, paragraphs of an invented language, wikilinks
(some with display text or an anchor, a few dangling), Markdown links, embeds, tags, code fences and small pictures.
Nothing here knows vaultgraph; the vault is read by whatever is measured.
"""

import argparse
import itertools
import random
import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

ONSETS = ("b", "br", "d", "f", "g", "gl", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z", "")
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou", "ö", "é")
CODAS = ("", "", "", "l", "n", "r", "s", "t", "nd", "rk")
TYPES = ("Idea", "Person", "Place", "Project", "Event", "Book")
STATUSES = ("draft", "open", "review", "done", "archived")
LANGUAGES = ("python", "sh", "sql", "")


@dataclass(frozen=True, slots=True)
class Size:
    """What to make. ``links`` counts wikilinks in bodies, dangling ones included, embeds and Markdown links not."""

    notes: int = 7000
    links: int = 45000
    images: int = 300
    folders: int = 40
    tags: int = 400
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Words:
    """An invented language: words from the most to the least used, with cumulative weights."""

    words: tuple[str, ...]
    weights: tuple[float, ...]

    def some(self, rng: random.Random, count: int) -> list[str]:
        """``count`` words, frequent ones more often."""
        return rng.choices(self.words, cum_weights=self.weights, k=count)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before the first note is written. Paths are vault-relative with extension."""

    notes: tuple[str, ...]
    headings: tuple[tuple[str, ...], ...]  # by note
    targets: tuple[tuple[int, ...], ...]  # by note: rows of the linked notes, -1 is dangling
    images: tuple[str, ...]
    tags: tuple[str, ...]


def make_words(rng: random.Random, count: int = 4000) -> Words:
    """A vocabulary in which the word of rank r is used about 1/r as often as the first."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = rng.choices((1, 2, 3, 4), (1, 5, 4, 1))[0]
        found["".join(rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS) for _ in range(syllables))] = None
    common = sorted(found, key=lambda word: len(word) + 5 * rng.random())  # short words are the common ones, roughly
    return Words(tuple(common), tuple(itertools.accumulate(1.0 / (rank + 3) for rank in range(count))))


def make_plan(rng: random.Random, size: Size, words: Words) -> Plan:
    """Names, headings and link targets of all notes; popular notes are linked more often."""
    names = [[part.capitalize() for part in words.some(rng, 1 + row % 2)] for row in range(size.folders)]
    folders = [f"{'/'.join(parts)} {row:02d}" for row, parts in enumerate(names)]
    stems = [f"{' '.join(words.some(rng, rng.randint(1, 3))).capitalize()} {row:05d}" for row in range(size.notes)]
    notes = tuple(f"{rng.choice(folders)}/{stem}.md" if folders else f"{stem}.md" for stem in stems)
    headings = tuple(tuple(heading(rng, words) for _ in range(rng.randint(1, 4))) for _ in notes)
    popularity = list(itertools.accumulate(1.0 / (rank + 20) ** 0.7 for rank in range(size.notes)))
    by_rank = list(range(size.notes))
    rng.shuffle(by_rank)
    sources = sorted(rng.choices(range(size.notes), k=size.links)) if size.notes else []
    picked = rng.choices(by_rank, cum_weights=popularity, k=len(sources)) if sources else []
    targets: list[list[int]] = [[] for _ in notes]
    for source, target in zip(sources, picked, strict=True):
        targets[source].append(-1 if rng.random() < 0.015 else target)
    return Plan(
        notes,
        headings,
        tuple(map(tuple, targets)),
        tuple(f"attachments/picture {row:04d}.png" for row in range(size.images)),
        tuple(dict.fromkeys("/".join(words.some(rng, rng.choice((1, 1, 1, 2)))) for _ in range(size.tags))),
    )


def heading(rng: random.Random, words: Words) -> str:
    """One to four words."""
    return " ".join(words.some(rng, rng.randint(1, 4))).capitalize()


def stem_of(path: str) -> str:
    """The name of a note as a link writes it."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def write_link(rng: random.Random, plan: Plan, target: int, words: Words) -> str:
    """One wikilink to a note by row, or a dangling one; a fifth show other text, a tenth name a heading."""
    name = f"Missing {' '.join(words.some(rng, 2))}" if target < 0 else stem_of(plan.notes[target])
    kind = rng.random()
    if kind < 0.1 and target >= 0:
        name += "#" + rng.choice(plan.headings[target])
    display = "|" + " ".join(words.some(rng, 2)) if kind > 0.8 else ""
    return f"[[{name}{display}]]"


def paragraphs(rng: random.Random, links: list[str], count: int, words: Words) -> Iterator[str]:
    """``count`` paragraphs that together hold every link once."""
    for row in range(count):
        text = words.some(rng, rng.randint(50, 84))
        for link in links[row::count]:
            text.insert(rng.randrange(len(text)), link)
        for stop in range(rng.randint(8, 14), len(text) - 1, rng.randint(9, 15)):
            text[stop] += "."
        text[0] = text[0][0].upper() + text[0][1:]
        yield " ".join(text) + "."


def frontmatter(rng: random.Random, plan: Plan) -> str:
    """A block with text, a number, a date and a list; one note in six has an alias as well."""
    tags = ", ".join(rng.choices(plan.tags, k=rng.randint(0, 4))) if plan.tags else ""
    lines = [
        "---",
        f"type: {rng.choice(TYPES)}",
        f"status: {rng.choice(STATUSES)}",
        f"rating: {rng.randint(1, 10)}",
        f"created: {rng.randint(2015, 2025)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
        f"tags: [{tags}]",
    ]
    if rng.random() < 1 / 6:
        lines.append(f"aliases: [alias {rng.randrange(10**6):06d}]")
    return "\n".join([*lines, "---", ""])


def extras(rng: random.Random, plan: Plan, words: Words) -> Iterator[str]:
    """The rarer blocks of a note: a picture, an embedded note, a Markdown link, a list of tags, a fence, a URL."""
    if plan.images and rng.random() < 0.12:
        yield f"![[{rng.choice(plan.images).rsplit('/', 1)[-1]}|{rng.choice((120, 240, 320))}]]"
    if rng.random() < 0.06:
        yield f"![[{stem_of(rng.choice(plan.notes))}]]"
    if rng.random() < 0.25:
        path = rng.choice(plan.notes).replace(" ", "%20")
        yield f"See [{' '.join(words.some(rng, 2))}](/{path}) and {' '.join(words.some(rng, 6))}."
    if plan.tags and rng.random() < 0.4:
        yield " ".join(f"#{tag}" for tag in rng.choices(plan.tags, k=rng.randint(1, 3)))
    if rng.random() < 0.05:
        pairs = zip(words.some(rng, 4), words.some(rng, 4), strict=True)
        body = "\n".join(f"{left} = {right}  # [[{left}]]" for left, right in pairs)
        yield f"```{rng.choice(LANGUAGES)}\n{body}\n```"
    if rng.random() < 0.1:
        yield f"From [{' '.join(words.some(rng, 2))}](https://example.org/{'/'.join(words.some(rng, 2))})."


def note_text(rng: random.Random, plan: Plan, row: int, words: Words) -> str:
    """The whole text of one note."""
    links = [write_link(rng, plan, target, words) for target in plan.targets[row]]
    headings = plan.headings[row]
    blocks = [f"# {stem_of(plan.notes[row])}"]
    count = rng.randint(3, 6)
    for place, paragraph in enumerate(paragraphs(rng, links, count, words)):
        due = [text for order, text in enumerate(headings) if 1 + order * (count - 1) // len(headings) == place]
        blocks += [*(f"## {text}" for text in due), paragraph]
    blocks += extras(rng, plan, words)
    return frontmatter(rng, plan) + "\n" + "\n\n".join(blocks) + "\n"


def picture(rng: random.Random) -> bytes:
    """A small PNG. Stored, not compressed: the bytes then do not depend on the zlib of the machine."""
    width, height = rng.randint(8, 24), rng.randint(8, 24)
    red, green, blue = rng.randrange(256), rng.randrange(256), rng.randrange(256)
    rows = b"".join(
        b"\0" + bytes(part for x in range(width) for part in ((red + 7 * x) % 256, (green + 5 * y) % 256, blue))
        for y in range(height)
    )
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 0)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def make_vault(out: Path, size: Size) -> dict[str, int]:
    """Write the vault into ``out``, which must not exist or be empty, and return what it holds.

    Raises: FileExistsError when ``out`` holds anything.
    """
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty: name a new folder")
    rng = random.Random(size.seed)
    words = make_words(rng)
    plan = make_plan(rng, size, words)
    written = 0
    for folder in sorted({path.rpartition("/")[0] for path in (*plan.notes, *plan.images)}):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for row, path in enumerate(plan.notes):
        data = note_text(rng, plan, row, words).encode()
        written += len(data)
        (out / path).write_bytes(data)
    for path in plan.images:
        (out / path).write_bytes(picture(rng))
    return {
        "notes": len(plan.notes),
        "bytes": written,
        "links": sum(map(len, plan.targets)),
        "dangling": sum(targets.count(-1) for targets in plan.targets),
        "images": len(plan.images),
    }


def main() -> int:
    """Command line: ``make_vault.py OUT [--notes N] [--links N] [--seed N] …``."""
    parser = argparse.ArgumentParser(description="Write a vault for benchmarks.")
    parser.add_argument("out", type=Path)
    for field in fields(Size):
        parser.add_argument(f"--{field.name}", type=int, default=field.default, help=f"default {field.default}")
    options = vars(parser.parse_args())
    out = options.pop("out")
    try:
        made = make_vault(out, Size(**options))
    except FileExistsError as error:
        print(error, file=sys.stderr)
        return 2
    print(", ".join(f"{count:,} {name}" for name, count in made.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
