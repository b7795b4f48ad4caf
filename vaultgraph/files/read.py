"""Text of one file: whole, a slice with line numbers, the lines that match a pattern, or the section of a heading.

Behind the tool `read_source`. Reads the file as it is on disk now. What a title or an alias means is not known here:
callers come with a path. Headings are found by their look, code fences and frontmatter aside.
"""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.errors import FileError, ParameterError
from vaultgraph.files.kinds import DELIVERED_IMAGES, HEAD_BYTES, is_text, mime_of
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import is_note
from vaultgraph.files.text import Pattern, compile_pattern, lines_around, lines_of, plain_text
from vaultgraph.frozen import frozen

MOST_BYTES: Final = 1 << 26
MOST_LINES: Final = 20_000  # matching lines shown
_MOST_CONTEXT: Final = 50
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_NO_PARAGRAPH: Final = re.compile(r"\s*(?:[#>|`~+*-]|\d+[.)]\s|$)")


@frozen
class Heading:
    """A heading of a text: ``line`` is 1-based, ``level`` 1 to 6."""

    line: int
    level: int
    text: str


@frozen
class TextPart:
    """Text of the file ``path`` (without symlinks), with LF line ends.

    ``text`` holds the lines ``first_line`` … ``last_line`` (1-based, inclusive; 0 and 0 where there is none).
    ``is_numbered``: each line starts with its number, then ": " (or "- " for a line around a match). ``matches``: lines
    that match the pattern, ``shown_matches`` those in ``text``. ``is_cut``: ``most_chars`` was reached.
    ``size_bytes`` of the file; ``is_utf8`` false where bytes had to be replaced.
    """

    path: str
    text: str
    first_line: int
    last_line: int
    total_lines: int
    is_numbered: bool
    matches: int
    shown_matches: int
    is_cut: bool
    size_bytes: int
    is_utf8: bool


def read_text(
    root: VaultRoot,
    rel: str,
    start_line: int | None = None,
    end_line: int | None = None,
    pattern: str | None = None,
    context: int = 2,
    most_matches: int | None = None,
    most_chars: int | None = None,
    heading: str | None = None,
) -> TextPart:
    """Text of a file of the vault.

    ``start_line`` and ``end_line`` are 1-based and inclusive; an end past the end of the file is its end. ``heading``
    is the text of a heading (or ``Parent#Child``); its section reaches to the next heading of the same or a higher
    level. ``pattern`` shows the matching lines of the file, the slice or the section with ``context`` lines around: at
    most ``most_matches`` of them, and never over 20,000.

    Raises:
        ParameterError: a line that is not there, a heading that is not there (``data["nearest"]``), a bad pattern.
        FileError: a folder, or no text: the message says what it is and which tool to use.
        PathEscapeError, MissingFileError, TooLargeError: as VaultRoot.read_bytes.
    """
    data = root.read_bytes(rel, most_bytes=MOST_BYTES)
    path = root.stat(rel).path
    _refuse_binary(path, data)
    text, is_utf8 = plain_text(data)
    lines = lines_of(text)
    is_slice = start_line is not None or end_line is not None or heading is not None
    first, stop = _slice(path, lines, start_line, end_line, heading, text)
    shown: Sequence[int] = range(first, stop)
    hits: set[int] | None = None
    matches = 0
    if pattern is not None:
        compiled = compile_pattern(pattern, name="grep")
        most = MOST_LINES if most_matches is None else min(max(most_matches, 0), MOST_LINES)
        shown, hits, matches = _matching(lines, first, stop, compiled, min(max(context, 0), _MOST_CONTEXT), most)
    is_numbered = is_slice or pattern is not None
    body, count, is_cut = _print(lines, shown, hits, is_numbered, most_chars)
    shown = shown[:count]
    return TextPart(
        path=path,
        text=body,
        first_line=shown[0] + 1 if shown else 0,
        last_line=shown[-1] + 1 if shown else 0,
        total_lines=len(lines),
        is_numbered=is_numbered,
        matches=matches,
        shown_matches=sum(number in hits for number in shown) if hits else 0,
        is_cut=is_cut,
        size_bytes=len(data),
        is_utf8=is_utf8,
    )


def outline(text: str) -> tuple[Heading, ...]:
    """The headings of a text (LF line ends) in order, outside code fences and frontmatter."""
    lines = lines_of(text)
    found: list[Heading] = []
    fence = ""
    for index in range(_frontmatter_end(lines), len(lines)):
        line = lines[index]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        if mark and (mark[1][0] == "~" or "`" not in line[mark.end() :]):
            fence = mark[1]
            continue
        atx = _HEADING.match(line)
        if atx:
            found.append(Heading(index + 1, len(atx[1]), _without_closing_marks(line[atx.end() :].strip())))
            continue
        underline = _UNDERLINE.fullmatch(line)
        if underline and index and not _NO_PARAGRAPH.match(lines[index - 1]):
            found.append(Heading(index, 1 if underline[1][0] == "=" else 2, lines[index - 1].strip()))
    return tuple(found)


def _without_closing_marks(text: str) -> str:
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _frontmatter_end(lines: list[str]) -> int:
    if lines and lines[0].rstrip() == "---":
        for index in range(1, len(lines)):
            if lines[index].rstrip() == "---":
                return index + 1
    return 0


def _refuse_binary(path: str, data: bytes) -> None:
    mime = mime_of(data[:HEAD_BYTES])
    if is_text(mime) or (mime is None and is_note(path)):  # a note may hold a NUL
        return
    if mime in DELIVERED_IMAGES:
        raise FileError(f"{path}: is an image ({mime}), not text. fetch_images shows it.", {"mime": mime})
    raise FileError(
        f"{path}: is not text ({mime or 'unknown binary data'}, {len(data):,} bytes), so it cannot be shown.",
        {"mime": mime},
    )


def _slice(
    path: str, lines: list[str], start_line: int | None, end_line: int | None, heading: str | None, text: str
) -> tuple[int, int]:
    """The 0-based half-open range of lines asked for."""
    first, stop = (0, len(lines)) if heading is None else _section(path, outline(text), heading, len(lines))
    if start_line is not None:
        if start_line < 1:
            raise ParameterError("start_line: lines count from 1.", {"name": "start_line", "reason": "too small"})
        if start_line > max(len(lines), 1):
            raise ParameterError(
                f"start_line: {path} has {len(lines)} lines, so there is no line {start_line}.",
                {"name": "start_line", "reason": "past the end", "total_lines": len(lines)},
            )
        first = max(first, start_line - 1)
    if end_line is not None:
        if end_line < (start_line or 1):
            raise ParameterError(
                f"end_line: {end_line} lies before line {start_line or 1}.", {"name": "end_line", "reason": "too small"}
            )
        stop = min(stop, end_line)
    return first, max(first, stop)


def _section(path: str, headings: tuple[Heading, ...], asked: str, line_count: int) -> tuple[int, int]:
    """Lines of the section of ``asked``: from its heading to the next one of the same or a higher level."""
    first, stop = 0, len(headings)
    found: Heading | None = None
    for name in (part for part in asked.split("#") if part.strip()) if "#" in asked.strip("# ") else (asked,):
        wanted = _folded(name.strip("# "))
        index = next((i for i in range(first, stop) if _folded(headings[i].text) == wanted), None)
        if index is None:
            known = list(dict.fromkeys(heading.text for heading in headings))
            from difflib import get_close_matches  # noqa: PLC0415 -- only where a heading is wrong

            nearest = get_close_matches(name.strip("# "), known, n=3, cutoff=0.5)
            advice = f" Did you mean {' or '.join(nearest)}?" if nearest else f" It has: {', '.join(known[:8])}."
            raise ParameterError(
                f"heading: {path} has no heading {name.strip('# ')!r}.{advice if known else ' It has none at all.'}",
                {"name": "heading", "reason": "not found", "nearest": nearest},
            )
        found = headings[index]
        first = index + 1
        stop = next((i for i in range(first, stop) if headings[i].level <= found.level), stop)
    if found is None:
        raise ParameterError("heading: is empty.", {"name": "heading", "reason": "empty"})
    return found.line - 1, headings[stop].line - 1 if stop < len(headings) else line_count


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _matching(
    lines: list[str], first: int, stop: int, pattern: Pattern, context: int, most: int
) -> tuple[list[int], set[int], int]:
    """The 0-based lines to show, context included; those of them that match; and how many match in all."""
    flags = pl.Series("line", lines[first:stop], dtype=pl.String).str.contains(pattern.line).to_numpy()
    hits = np.flatnonzero(flags)
    kept = hits[:most]
    shown = [first + row for row in lines_around(kept, context, stop - first)]
    return shown, {first + row for row in kept.tolist()}, len(hits)


def _print(
    lines: list[str], shown: Sequence[int], hits: set[int] | None, is_numbered: bool, most_chars: int | None
) -> tuple[str, int, bool]:
    """The text, how many of ``shown`` are in it, and whether it was cut; a gap between lines is a line `--`.

    ``hits`` are the lines that match; None where none were looked for.
    """
    width = len(str(shown[-1] + 1)) if shown else 1
    out: list[str] = []
    size = 0
    for index, number in enumerate(shown):
        text = lines[number]
        if is_numbered:
            gap = "--\n" if index and shown[index - 1] != number - 1 else ""
            mark = ":" if hits is None or number in hits else "-"
            text = f"{gap}{number + 1:>{width}}{mark} {text}"
        if most_chars is not None and size + len(text) > most_chars:
            # Whole lines only, but never nothing: a first line that is too long by itself is cut.
            if not out:
                return text[: max(most_chars, 0)], 1, True
            return "\n".join(out), index, True
        out.append(text)
        size += len(text) + 1
    return "\n".join(out), len(shown), False
