"""The exact scan of one segment's inline syntax, character by character where it has to be.

For the few segments the column scan of `tokens` does not judge: backtick runs, math, brackets inside brackets,
reference links, very long lines. Gives the same tokens in the same form. Linear in the length of the text: whatever
looks for a closer remembers that there is none.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from vaultgraph.note.patterns import (
    AUTOLINK,
    HTML_TAG,
    LINK_TAIL,
    PUNCTUATION,
    SPACE,
    TAG_CHARS,
    URL,
    URL_START,
    WIKILINK,
)


class TokenKind(IntEnum):
    """What a token is; ``name`` of the token is the part that says where it points."""

    WIKILINK = 1  # name: everything between the double brackets
    MARKDOWN = 2  # name: the destination as written
    URL = 3  # name: the address of an autolink or a bare URL
    TAG = 4  # name: without #


class Token(NamedTuple):
    """One link, embed or tag. ``line`` counts from the segment's first line; ``text`` and ``title`` are raw.

    While the scan runs, ``line`` holds the position.
    """

    line: int
    kind: int
    is_embed: bool
    name: str
    text: str | None
    title: str | None


References = Mapping[str, tuple[str, str]]

_MOST_TEXT: Final = 8192  # characters of a link text, and of a destination with its title
_KEPT_INSIDE: Final = frozenset((TokenKind.WIKILINK, TokenKind.MARKDOWN, TokenKind.TAG))  # what a link's text may hold
_NEXT: Final = re.compile(r"\\|`+|<|\$|!?\[\[?|\]|#|https?://")
_ESCAPED: Final = re.compile(PUNCTUATION)
_WIKILINK: Final = re.compile(WIKILINK.replace(")*", ")*+"))
_TAIL: Final = re.compile(LINK_TAIL)
_LABEL: Final = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_HTML_TAG: Final = re.compile(HTML_TAG)
_AUTOLINK: Final = re.compile(AUTOLINK)
_WEB: Final = re.compile("https?://[^>]", re.IGNORECASE)
_TAG: Final = re.compile(f"{TAG_CHARS}+")
_URL: Final = re.compile(URL)
_BEFORE_URL: Final = re.compile(URL_START)
_SPACE: Final = re.compile(f"[{SPACE}]")
_TICKS: Final = re.compile("`+")


def scan_inline(text: str, references: References) -> list[Token]:
    """The tokens of ``text`` in order of position; ``references`` are the definitions of its note."""
    return _Scan(text, references).run()


class _Opener(NamedTuple):
    start: int  # of the bracket, or of the ! before it
    inside: int
    is_image: bool
    tokens: int  # how many tokens were found before it


class _Scan:
    """The state of one scan: position, open brackets, and which closers are known to be missing."""

    def __init__(self, text: str, references: References) -> None:
        self._text = text
        self._references = references
        self._found: list[Token] = []
        self._openers: list[_Opener] = []
        self._dead = 0  # openers below this index are links around a link: inactive
        self._missing: set[str] = set()
        self._ticks: dict[int, list[int]] | None = None
        self._free = 0  # where an escape or the text's start lets a tag begin

    def run(self) -> list[Token]:
        position = 0
        # row loop: special characters of one segment
        while (found := _NEXT.search(self._text, position)) is not None:
            position = self._step(found.start(), found.group())
        self._found.sort(key=lambda token: token.line)
        ends = [match.start() for match in re.finditer("\n", self._text)]
        return [token._replace(line=bisect_right(ends, token.line)) for token in self._found]

    def _step(self, at: int, mark: str) -> int:
        """Handle the special text ``mark`` at ``at``; where to go on."""
        text = self._text
        if mark == "\\":
            if _ESCAPED.match(text, at + 1):
                self._free = at + 2
                return at + 2
            return at + 1
        if mark[0] == "`":
            return self._code_end(at, len(mark))
        if mark == "<":
            return self._angle_end(at)
        if mark == "$":
            return self._math_end(at)
        if mark == "#":
            return self._tag_end(at)
        if mark == "]":
            return self._close(at)
        if mark[0] == "h":
            return self._url_end(at, len(mark))
        wikilink = _WIKILINK.match(text, at) if mark.endswith("[[") else None
        if wikilink is not None:
            is_embed = mark[0] == "!"
            self._found.append(Token(at, TokenKind.WIKILINK, is_embed, wikilink.group()[2 + is_embed : -2], None, None))
            return wikilink.end()
        inside = at + (2 if mark[0] == "!" else 1)
        self._openers.append(_Opener(at, inside, mark[0] == "!", len(self._found)))
        return inside

    def _code_end(self, at: int, length: int) -> int:
        if self._ticks is None:
            self._ticks = {}
            for run in _TICKS.finditer(self._text):
                self._ticks.setdefault(run.end() - run.start(), []).append(run.start())
        starts = self._ticks.get(length, [])
        index = bisect_left(starts, at + length)
        return starts[index] + length if index < len(starts) else at + length

    def _angle_end(self, at: int) -> int:
        text = self._text
        if text.startswith("<!--", at):
            end = self._find("-->", at + 2)
            return at + 4 if end < 0 else end + 3
        bound = at + _MOST_TEXT
        address = _AUTOLINK.match(text, at, bound)
        if address is not None:
            if _WEB.match(text, at + 1):
                self._found.append(Token(at, TokenKind.URL, False, address.group()[1:-1], None, None))
            return address.end()
        tag = _HTML_TAG.match(text, at, bound)
        return tag.end() if tag is not None else at + 1

    def _math_end(self, at: int) -> int:
        text = self._text
        if text.startswith("$$", at):
            end = self._find("$$", at + 2)
            return at + 2 if end < 0 else end + 2
        end = text.find("$", at + 1)
        # row loop: escaped dollars up to the next plain one
        while end > 0 and text[end - 1] == "\\":
            end = text.find("$", end + 1)
        if end < 0 or end == at + 1:
            return at + 1
        is_math = not text[at + 1].isspace() and not text[end - 1].isspace() and not text[end + 1 : end + 2].isdigit()
        return end + 1 if is_math else at + 1

    def _tag_end(self, at: int) -> int:
        if at != self._free and not _SPACE.match(self._text, at - 1):
            return at + 1
        name = _TAG.match(self._text, at + 1)
        if name is None:
            return at + 1
        self._found.append(Token(at, TokenKind.TAG, False, name.group(), None, None))
        self._free = name.end()  # a tag may follow a tag directly
        return name.end()

    def _url_end(self, at: int, length: int) -> int:
        address = _URL.match(self._text, at)
        if address is None or (at > 0 and not _BEFORE_URL.match(self._text, at - 1)):
            return at + length
        self._found.append(Token(at, TokenKind.URL, False, address.group(), None, None))
        return address.end()

    def _close(self, at: int) -> int:
        """A closing bracket: the end of a link, where a destination or a known label follows."""
        if not self._openers:
            return at + 1
        opener = self._openers.pop()
        is_live = opener.is_image or len(self._openers) >= self._dead
        self._dead = min(self._dead, len(self._openers))
        target = self._target(opener.inside, at) if is_live else None
        if target is None:
            return at + 1
        end, name, title = target
        text = self._text[opener.inside : min(at, opener.inside + _MOST_TEXT)]
        inner = [token for token in self._found[opener.tokens :] if token[1] in _KEPT_INSIDE]
        self._found[opener.tokens :] = [] if opener.is_image else inner
        self._found.append(Token(opener.start, TokenKind.MARKDOWN, opener.is_image, name, text, title or None))
        if not opener.is_image:
            self._dead = len(self._openers)
        return end

    def _target(self, inside: int, at: int) -> tuple[int, str, str | None] | None:
        """End, destination and title of a link whose text runs from ``inside`` to the bracket at ``at``."""
        tail = _TAIL.match(self._text, at + 1, at + _MOST_TEXT)
        if tail is not None:
            angled, bare, *titles = tail.groups()
            return tail.end(), angled or bare or "", next(filter(None, titles), None)
        if not self._references or at - inside > 999:
            return None
        label = _LABEL.match(self._text, at + 1, at + _MOST_TEXT)
        name = label[1] if label is not None and label[1].strip() else self._text[inside:at]
        found = self._references.get(normal_label(name))
        if found is None:
            return None
        return (label.end() if label is not None else at + 1), *found

    def _find(self, closer: str, start: int) -> int:
        if closer in self._missing:
            return -1
        end = self._text.find(closer, start)
        if end < 0:
            self._missing.add(closer)
        return end


def normal_label(label: str) -> str:
    """The key of a reference definition: blank space collapsed, case folded both ways."""
    return " ".join(label.split()).lower().upper()
