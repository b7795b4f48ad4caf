"""What inline text hides: code spans, math and comments, replaced by blanks of the same length.

For readers of inline text that look for their own syntax, such as `fields`. Linear in the length of the text: whatever
looks for a closer remembers that there is none.
"""

import re
from bisect import bisect_left
from typing import Final

_MARK: Final = re.compile(r"\\.|`+|\$\$|\$|%%|<!--", re.DOTALL)
_TICKS: Final = re.compile("`+")
_CLOSERS: Final = {"$$": "$$", "%%": "%%", "<!--": "-->"}


def blanked(text: str) -> str:
    """``text`` with a blank for each character of code spans, math and comments; line ends stay."""
    if _MARK.search(text) is None:
        return text
    parts: list[str] = []
    closers = _Closers(text)
    at = kept = 0
    # row loop: the marks of one text
    while (found := _MARK.search(text, at)) is not None:
        end = closers.end_of(found)
        if end > found.end():
            parts += (text[kept : found.start()], _blanks(text[found.start() : end]))
            kept = end
        at = max(end, found.end())
    parts.append(text[kept:])
    return "".join(parts)


class _Closers:
    """Where what a mark opens ends; remembers which closers are missing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._missing: set[str] = set()
        self._ticks: dict[int, list[int]] | None = None

    def end_of(self, mark: re.Match[str]) -> int:
        """The end of what ``mark`` opens, 0 where it opens nothing."""
        opener = mark.group()
        if opener[0] == "\\":
            return 0
        if opener[0] == "`":
            return self._code_end(mark.start(), len(opener))
        if opener == "$":
            return self._math_end(mark.start())
        if opener in self._missing:
            return 0
        end = self._text.find(_CLOSERS[opener], mark.end())
        if end < 0:
            self._missing.add(opener)
            return 0
        return end + len(_CLOSERS[opener])

    def _code_end(self, at: int, length: int) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text):
                self._ticks.setdefault(run.end() - run.start(), []).append(run.start())
        starts = self._ticks.get(length, [])
        index = bisect_left(starts, at + length)
        return starts[index] + length if index < len(starts) else 0

    def _math_end(self, at: int) -> int:
        """Math does not begin or end with blank space, and no digit follows it."""
        text = self._text
        if "$" in self._missing:
            return 0
        end = text.find("$", at + 1)
        if end < 0:
            self._missing.add("$")
            return 0
        is_math = end > at + 1 and not text[at + 1].isspace() and not text[end - 1].isspace()
        return end + 1 if is_math and not text[end + 1 : end + 2].isdigit() else 0


def _blanks(text: str) -> str:
    return "".join("\n" if character == "\n" else " " for character in text)
