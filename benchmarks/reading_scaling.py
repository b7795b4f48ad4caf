"""Reads one note made to be slow, at growing sizes: does the time grow as the size does?

    python benchmarks/reading_scaling.py [NAME …] [--sizes 0.6,1.25,2.5,5] [--most-growth 2.6] [--most-seconds 20]
        [--structure] [--list]

Each input of the list below is a text repeated up to the size (in MB). Prints the processor's milliseconds of
`read_notes` at each size and the factor of the last doubling; with --structure everything a profile can declare is read
as well. A size is left out where the one before took too long. Exits with 1 if a time grows by more than --most-growth
(times below 300 ms are not judged) or goes beyond --most-seconds.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from vaultgraph.note.read import read_notes
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    OrderedLists,
    Reading,
    Sections,
    Structure,
)

Generator = Callable[[int], str]
MEGABYTE = 1_000_000
LEAST_JUDGED_MS = 300


def repeated(unit: str, before: str = "", after: str = "") -> Generator:
    """``unit`` over and over."""
    return lambda size: before + unit * (size // len(unit.encode())) + after


def counted(line: str, before: str = "", after: str = "") -> Generator:
    """``line`` over and over, with its number where it says {n}."""

    def make(size: int) -> str:
        count = max(1, size // (len(line.encode()) + 3))
        return before + "".join(line.replace("{n}", str(number)) for number in range(count)) + after

    return make


def in_frontmatter(make: Generator) -> Generator:
    return lambda size: f"---\n{make(size)}\n---\n[[body]]\n"


def growing(unit: str, gap: str) -> Generator:
    """Runs of ``unit``, each one longer than the one before."""

    def make(size: int) -> str:
        runs, length, total = [], 1, 0
        while total < size:
            runs.append(unit * length + gap)
            total += length + len(gap)
            length += 1
        return "".join(runs)

    return make


def nested(opener: str, closer: str, inside: str = "x") -> Generator:
    """Openers up to the middle, closers from there."""

    def make(size: int) -> str:
        depth = size // (len(opener) + len(closer))
        return opener * depth + inside + closer * depth

    return make


def staircase(line: str, step: str, most: int) -> Generator:
    """Lines each further in than the one before, up to ``most`` steps, then from the start again."""

    def make(size: int) -> str:
        lines, total, at = [], 0, 0
        while total < size:
            text = step * (at % most) + line
            lines.append(text)
            total += len(text)
            at += 1
        return "".join(lines)

    return make


INPUTS: dict[str, Generator] = {
    "brackets": repeated("["),
    "closing brackets": repeated("]"),
    "double brackets": repeated("[["),
    "double brackets, a letter": repeated("[[a"),
    "embed openers": repeated("![["),
    "image openers": repeated("!["),
    "images in images": nested("![", "](y)"),
    "links in links": nested("[", "](y)"),
    "brackets in brackets": nested("[", "]"),
    "links": repeated("[a](b) "),
    "wikilinks in a line": repeated("[[a|b]] "),
    "wikilinks, a line each": repeated("[[a]]\n"),
    "wikilinks, all different": counted("[[a {n}#h|b]] "),
    "wikilinks in paragraphs": counted("[[a {n}]] text #t{n}\n\n"),
    "wikilinks in items": counted("- [[a {n}]] text\n"),
    "link openers": repeated("[a]("),
    "link openers with a title": repeated('[a](b "'),
    "angled destinations": repeated("[a](<"),
    "parentheses in a destination": repeated("(", "[a](", ")"),
    "balanced parentheses": repeated("(())", "[a](", ")"),
    "escapes in a destination": repeated("\\(", "[a](", ")"),
    "backticks": repeated("`"),
    "backtick runs of growing length": growing("`", " a "),
    "backtick pairs": repeated("`a` "),
    "uneven backticks": repeated("`a``b "),
    "dollars": repeated("$"),
    "dollars and letters": repeated("$a "),
    "escaped dollars": repeated("\\$", "$a"),
    "double dollars": repeated("$$ a "),
    "double dollars, a line each": repeated("$$\n"),
    "dollar blocks never closed": repeated("$$a$\n"),
    "percent signs": repeated("%"),
    "percent signs, a line each": repeated("%%\n\n"),
    "percent blocks never closed": repeated("%%a\n\n"),
    "comments never closed": repeated("<!-- "),
    "comments never closed, a line each": repeated("<!--\n\n"),
    "comments": repeated("<!-- a -->"),
    "angle brackets": repeated("<"),
    "tags never closed": repeated("<a "),
    "attributes never closed": repeated('<a b="'),
    "attributes": repeated(" b='c'", "<a", ">"),
    "closing angles": repeated(">", "a "),
    "lone tags, a line each": repeated("<b>\n"),
    "lone tags with attributes never closed": repeated("<b c='d' e='\n\n"),
    "html blocks": repeated("<div>\n\n"),
    "verbatim html": repeated("<pre>\n\n"),
    "processing instructions": repeated("<?a\n\n"),
    "autolinks": repeated("<https://a.b> "),
    "autolinks never closed": repeated("<https://a.b"),
    "quotes in quotes": repeated(">"),
    "quote lines": repeated("> a\n"),
    "quote lines of growing depth": staircase("a\n", "> ", 50),
    "lazy quote": repeated("a\n", "> "),
    "empty quotes": repeated(">\n"),
    "items": repeated("- a\n"),
    "items in a line": repeated("- "),
    "items inside each other": staircase("- a\n", "  ", 50),
    "items inside each other, deep": staircase("- a\n", "  ", 600),
    "numbered items": counted("{n}. a\n"),
    "numbers in text": repeated("a\n2. b\n"),
    "items with code": repeated("- a\n\n      [[b]]\n\n"),
    "items with fences": repeated("- a\n  ```\n  [[b]]\n  ```\n"),
    "items with open fences": repeated("- ```\n"),
    "fences never closed": counted("```{n}\n[[a]]\n"),
    "fences of growing length": growing("`", "\n"),
    "tilde fences": repeated("~~~\n[[a]]\n"),
    "indented code": repeated("    [[a]]\n\n", "a\n\n"),
    "indented lines in a list": repeated("    [[a]]\n\n", "- a\n\n"),
    "a table with many columns": lambda size: "|a" * (size // 4) + "|\n" + "|-" * (size // 4) + "|\n",
    "a table with many rows": repeated("|[[a]]|b|\n", "|a|b|\n|-|-|\n"),
    "many tables": repeated("|a|b|\n|-|-|\n|[[c]]|d|\n\n"),
    "delimiter rows": repeated("|-|\n"),
    "bars": repeated("|"),
    "a long line": repeated("word "),
    "a long word": repeated("w"),
    "text lines": repeated("some words of text\n"),
    "reference definitions": counted("[r{n}]: u{n}\n"),
    "reference definitions with titles never closed": counted("[r{n}]: u 't\n"),
    "reference definitions, used": counted("[t][r{n}] [r{n}]\n\n[r{n}]: u{n}\n\n"),
    "one reference used often": repeated("[r] ", "[r]: u\n\n"),
    "labels never closed": repeated("[a\n", "", "]: u"),
    "definition openers": repeated("[a]: b "),
    "footnotes": counted("[^{n}]: text [[a]]\n"),
    "footnotes that go on": counted("[^{n}]: text\n\n    [[a]]\n\n"),
    "footnotes inside each other": staircase("[^1]: a\n", "    ", 40),
    "footnote marks": counted("a[^{n}] "),
    "headings": counted("# a {n}\n"),
    "headings with many hashes": repeated("#", "# a "),
    "hash runs": repeated("# "),
    "underlined headings": repeated("a\n-\n"),
    "equal signs": repeated("=\n"),
    "a paragraph above an underline": repeated("a\n", "", "==="),
    "rules": repeated("---\n"),
    "a long rule": repeated("- ", "", ""),
    "stars in a rule": repeated("* ", "", "a"),
    "tags": repeated("#tag "),
    "tags without a gap": repeated("#tag#tag"),
    "tags, all different": counted("#t{n} "),
    "nested tags": repeated("a/", "#"),
    "stars": repeated("*"),
    "underscores": repeated("_a"),
    "stars and letters": repeated("**a *b "),
    "entities": repeated("&amp;"),
    "entities in a destination": repeated("&amp;", "[a](", ")"),
    "ampersands": repeated("&"),
    "ampersands in a destination": repeated("&a", "[a](", ")"),
    "percent escapes": repeated("%41", "[a](", ")"),
    "backslashes": repeated("\\"),
    "escaped brackets": repeated("\\["),
    "carriage returns": repeated("\r"),
    "carriage returns and links": repeated("[[a]]\r"),
    "nul bytes": repeated("\x00"),
    "form feeds": repeated("\x0b\n", "- "),
    "blank lines": repeated("\n"),
    "blank lines in a list": repeated("\n", "- a\n", "  b"),
    "blank space": repeated(" "),
    "tabs": repeated("\t"),
    "block ids": counted("a ^id{n}\n\n"),
    "carets": repeated("^"),
    "carets and letters": repeated("^a "),
    "emoji": repeated("🎉"),
    "emoji tags": repeated("#🎉 "),
    "bare addresses": counted("https://a.b/{n} "),
    "addresses in brackets": repeated("https://a)"),
    "closing parentheses of an address": repeated(")", "https://a"),
    "callouts": repeated("> [!note] a\n> [[b]]\n\n"),
    "callouts inside each other": staircase("[!note] a\n", "> ", 40),
    "tasks": repeated("- [ ] a #t [[b]]\n"),
    "inline fields": repeated("key:: value [[b]]\n"),
    "inline fields in brackets": repeated("[key:: value] "),
    "colons": repeated("::"),
    "frontmatter: flat keys": in_frontmatter(counted("k{n}: v\n")),
    "frontmatter: keys that need the parser": in_frontmatter(counted("k{n}: [a, {b: c}]\n")),
    "frontmatter: deep lists": in_frontmatter(nested("[", "]")),
    "frontmatter: open lists": in_frontmatter(repeated("[", "a: ")),
    "frontmatter: open maps": in_frontmatter(repeated("{a: ", "a: ")),
    "frontmatter: deep items": in_frontmatter(repeated("- ")),
    "frontmatter: complex keys": in_frontmatter(repeated("? ")),
    "frontmatter: aliases": in_frontmatter(repeated("- *a\n", "x: &a b\ny:\n")),
    "frontmatter: anchors": in_frontmatter(counted("k{n}: &a{n} v\n")),
    "frontmatter: a long text": in_frontmatter(repeated("x", "a: ")),
    "frontmatter: a long quoted text": in_frontmatter(repeated("x ", 'a: "', '"')),
    "frontmatter: a block text": in_frontmatter(repeated("  x\n", "a: |\n")),
    "frontmatter: items": in_frontmatter(repeated("- x\n", "a:\n")),
    "frontmatter: links": in_frontmatter(counted('- "[[a {n}]]"\n', "a:\n")),
    "frontmatter: tags": in_frontmatter(counted("- t{n}\n", "tags:\n")),
    "frontmatter: one tag entry": in_frontmatter(repeated("a, ", "tags: ")),
    "frontmatter: one key again and again": in_frontmatter(repeated("a: 1\n")),
    "frontmatter: comments": in_frontmatter(repeated("# c\n", "a: 1\n")),
    "frontmatter: colons": in_frontmatter(repeated(": ", "a")),
    "frontmatter: digits": in_frontmatter(repeated("9", "a: ")),
    "frontmatter: never closed": repeated("a: b\n", "---\n"),
    "frontmatter: dashes": repeated("---\n", "---\na: 1\n"),
    "frontmatter: exclamation marks": in_frontmatter(repeated("!a ", "a: ")),
}


def everything() -> Reading:
    """A profile's reading with all that it can declare."""
    structure = Structure(
        sections=Sections(),
        chunks=Chunks(),
        callouts=Callouts(),
        code_fences=CodeFences(),
        ordered_lists=OrderedLists(),
    )
    return Reading(structure=structure)


def milliseconds(data: bytes, reading: Reading | None) -> float:
    """Of the processors, which other programs disturb less than the time on the wall."""
    started = time.process_time()
    read_notes(["a.md"], [data], reading)
    return (time.process_time() - started) * 1000


def measure(name: str, sizes: Sequence[float], reading: Reading | None, most_seconds: float) -> list[float]:
    """The times of one input, of as many sizes as take no longer than allowed."""
    times: list[float] = []
    for size in sizes:
        data = INPUTS[name](int(size * MEGABYTE)).encode()
        taken = milliseconds(data, reading)
        times.append(min(taken, milliseconds(data, reading)) if taken < 1000 else taken)
        if times[-1] > most_seconds * 1000:
            break
    return times


def is_slow(times: Sequence[float], sizes: Sequence[float], most_growth: float, most_seconds: float) -> bool:
    if times[-1] > most_seconds * 1000:
        return True
    return any(
        later > LEAST_JUDGED_MS and later / max(before, 1.0) > most_growth ** ((size / smaller) / 2)
        for before, later, smaller, size in zip(times, times[1:], sizes, sizes[1:], strict=False)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="inputs to measure; a part of a name will do")
    parser.add_argument("--sizes", default="0.6,1.25,2.5,5")
    parser.add_argument("--most-growth", type=float, default=2.6)
    parser.add_argument("--most-seconds", type=float, default=20)
    parser.add_argument("--structure", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = [name for name in INPUTS if not options.names or any(part in name for part in options.names)]
    if options.list:
        print("\n".join(names))
        return 0
    sizes = [float(size) for size in options.sizes.split(",")]
    slow = 0
    for name in names:
        times = measure(name, sizes, everything() if options.structure else None, options.most_seconds)
        growth = times[-1] / times[-2] if len(times) > 1 else 0.0
        is_bad = is_slow(times, sizes, options.most_growth, options.most_seconds)
        slow += is_bad
        figures = " ".join(f"{taken:9.0f}" for taken in times).ljust(10 * len(sizes))
        print(f"{name:48}{figures} ms  x{growth:.1f}{'  SLOW' if is_bad else ''}", flush=True)
    print(f"{len(names)} inputs, {slow} slow")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
