"""The exact block structure of one body, by markdown-it-py with Obsidian's two block kinds of its own.

The slow path of reading, for bodies whose lines cannot be judged one by one: fences inside lists and quotes, possible
indented code, reference definitions. It gives the stretches of inline text and the headings; inline syntax is not read
here. About 100 µs a kilobyte.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add, sub
from typing import Any, Final
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    fence,
    heading,
    hr,
    html_block,
    lheading,
    list_block,
    reference,
)
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from vaultgraph.note.lines import DELIMITER_ROW

_DELIMITER_ROW: Final = re.compile(DELIMITER_ROW, re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\[]+\]:[ \t]*")
CELL_TAG: Final = r"(^|[^\\])\|#"
"""A tag at the start of a table's cell, which needs no blank space before it; one is put there to be read."""
_CELL_TAG: Final = re.compile(CELL_TAG)
_UNDERLINED: Final = re.compile(r"\n[ \t>]*[-=][-= \t]*$", re.MULTILINE)
_AHEAD: Final = "ahead"  # in a parser's environment: where it was looked, the next end of an underline, the next gap
MOST_NESTING: Final = 60  # containers inside containers; deeper content is not read


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A stretch of inline text: 0-based half-open lines of the body, and the text without list and quote markers.

    ``level`` is 0 for a paragraph or a row of a table, 1…6 for a heading at the top level.
    """

    start: int
    end: int
    text: str
    level: int


@dataclass(frozen=True, slots=True)
class Structure:
    """The inline text of a body in order, and its reference definitions (label as markdown-it normalises it)."""

    blocks: list[TextBlock]
    references: Mapping[str, tuple[str, str]]  # label: (destination, decoded; title)


def structures_of(bodies: Sequence[str]) -> list[Structure]:
    """Parse each body (line ends LF) into blocks of inline text; code, HTML, comments and math are left out."""
    if not bodies:
        return []
    parser = block_parser()
    return [_structure(parser, body) for body in bodies]


def block_parser() -> MarkdownIt:
    """A parser of block structure with Obsidian's comment and math blocks; inline content is left as text.

    Give it bodies with LF as line ends.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": MOST_NESTING})
    parser.core.ruler.before("block", "last_line_end", _last_line_end)
    parser.core.ruler.enableOnly(["last_line_end", "block"])  # line ends are LF already, NUL bytes stay
    parser.block.ruler.at("lheading", _underlined, {"alt": []})
    parser.core.ruler.at("block", _read_blocks)
    _ask_by_first(parser)
    return parser


def _ask_by_first(parser: MarkdownIt) -> None:
    """Ask for each line only the rules that its first character allows.

    By itself markdown-it-py calls all of them for every line.
    """
    ruler = parser.block.ruler
    ruler.after("code", "begins", _begins, {"alt": []})
    ruler.disable([name for name in _BEGINNING if name in ruler.get_all_rules()])
    # behind "paragraph", which no line gets past: these are asked only whether they interrupt something
    ruler.push("interruption", _interrupted, {"alt": ["paragraph", "reference", "blockquote"]})
    ruler.push("list_interruption", _interrupted_list, {"alt": ["list"]})


def _begins(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    return _asked(_BEGINNING_BY_FIRST, state, start_line, end_line, silent)


def _interrupted(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Whether a block begins on this line that may end a paragraph; never begins one itself."""
    return silent and _asked(_INTERRUPTING_BY_FIRST, state, start_line, end_line, silent)


def _interrupted_list(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    return silent and _asked(_ENDING_LISTS_BY_FIRST, state, start_line, end_line, silent)


def _asked(
    by_first: Mapping[str, Sequence["_Rule"]], state: StateBlock, start_line: int, end_line: int, silent: bool
) -> bool:
    start = state.bMarks[start_line] + state.tShift[start_line]
    rules = by_first.get(state.src[start : start + 1])
    return rules is not None and any(rule(state, start_line, end_line, silent) for rule in rules)


class _Blocks(StateBlock):
    """The state of a parser at the start of ``src``, whose lines all end: markdown-it-py looks for them one by one."""

    def __init__(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        lines = src.split("\n")[:-1]
        sizes = list(map(len, lines))
        starts = list(accumulate(sizes, lambda start, size: start + size + 1, initial=0))
        margins = list(map(sub, sizes, [len(line.lstrip(" \t")) for line in lines]))
        columns = margins.copy()
        if "\t" in src:
            for number, (line, margin) in enumerate(zip(lines, margins, strict=True)):
                if margin:
                    columns[number] = len(line[:margin].expandtabs(4))
        self.bMarks = starts
        self.eMarks = [*map(add, starts, sizes), len(src)]
        self.tShift = [*margins, 0]
        self.sCount = [*columns, 0]
        self.bsCount = [0] * len(starts)
        self.lineMax = len(lines)


def _read_blocks(state: StateCore) -> None:
    blocks = _Blocks(state.src, state.md, state.env, state.tokens)
    state.md.block.tokenize(blocks, blocks.line, blocks.lineMax)


def _underlined(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A setext heading, looked for only where a line may be its underline before the next empty one."""
    if state.is_code_block(start_line):
        return False
    start, text = state.bMarks[start_line], state.src
    asked, underline, gap = state.env.get(_AHEAD, (0, -1, -1))
    if start < asked:
        underline = gap = -1
    if underline < start:
        found = _UNDERLINED.search(text, start)
        underline = found.start() if found is not None else len(text)
    if gap < start:
        gap = text.find("\n\n", start)
        gap = gap if gap >= 0 else len(text)
    state.env[_AHEAD] = start, underline, gap
    if underline < gap:
        return lheading(state, start_line, end_line, silent)
    state.parentType = "paragraph"  # as the rule leaves it
    return False


def _first_line(body: str, start: int, text: str) -> int:
    """The line on which ``text`` begins: above it markdown-it-py drops lines of form feeds and the like."""
    first, lines = text.partition("\n")[0], body.split("\n")
    return next((line for line in range(start, len(lines)) if first in lines[line]), start)


def _last_line_end(state: StateCore) -> None:
    """A line end at the end of the text, without which markdown-it-py reads past it in some HTML blocks."""
    if not state.src.endswith("\n"):
        state.src += "\n"


def _structure(parser: MarkdownIt, body: str) -> Structure:
    environment: dict[str, Any] = {}
    tokens = parser.parse(body, environment)
    blocks: list[TextBlock] = []
    # row loop: the block tokens of one body
    for number, token in enumerate(tokens):
        if token.type != "inline" or token.map is None:
            continue
        opener, outer = tokens[number - 1], tokens[number - 2] if number > 1 else None
        start, end = token.map
        text = token.content
        if text.count("\n") < end - start - 1:
            start = _first_line(body, start, text)
        if outer is not None and outer.type == "footnote_open" and outer.map is not None and outer.map[0] == start:
            text = outer.markup + text
        if _is_table(text):
            # what would underline a table is a rule
            rows = _CELL_TAG.sub(r"\1| #", text).split("\n")
            blocks += [TextBlock(line, line + 1, row, 0) for line, row in enumerate(rows, start)]
        else:
            is_heading = opener.type == "heading_open" and opener.level == 0
            blocks.append(TextBlock(start, end, text, int(opener.tag[1:]) if is_heading else 0))
    references = {
        label: (unquote(found["href"], errors="replace"), found.get("title") or "")
        for label, found in environment.get("references", {}).items()
    }
    return Structure(blocks, references)


def _is_table(text: str) -> bool:
    """Whether one of the rows below the first is a delimiter row."""
    below = text.find("\n") + 1
    return below > 0 and "|" in text and _DELIMITER_ROW.search(text, below) is not None


def _definition(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A reference definition, unless it is a footnote's text: that is read as a paragraph."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    return not state.src.startswith("[^", start) and reference(state, start_line, end_line, silent)


def _footnote(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A footnote's text, a container like a list item: what is indented by 4 below its first line belongs to it."""
    start, end = state.bMarks[start_line] + state.tShift[start_line], state.eMarks[start_line]
    marker = _FOOTNOTE.match(state.src, start, end)
    if marker is None or state.is_code_block(start_line):
        return False
    if silent:
        return True
    opened = state.push("footnote_open", "", 1)
    opened.map, opened.markup = [start_line, end_line], marker.group()
    before = state.bMarks[start_line], state.tShift[start_line], state.sCount[start_line], state.parentType
    state.blkIndent += 4
    state.bMarks[start_line], state.tShift[start_line] = marker.end(), 0
    state.sCount[start_line] = state.blkIndent
    state.parentType = "footnote"
    state.md.block.tokenize(state, start_line, end_line)
    state.blkIndent -= 4
    state.bMarks[start_line], state.tShift[start_line], state.sCount[start_line], state.parentType = before
    opened.map[1] = state.line
    state.push("footnote_close", "", -1)
    return True


def _math_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """`$$` at the start of a line up to the next `$$`; may interrupt a paragraph."""
    return _delimited(state, start_line, end_line, silent, "$$")


def _comment_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """`%%` at the start of a line up to the next `%%`; directly below a paragraph it is an inline comment instead."""
    return _delimited(state, start_line, end_line, silent, "%%")


def _delimited(state: StateBlock, start_line: int, end_line: int, silent: bool, fence: str) -> bool:
    start = state.bMarks[start_line] + state.tShift[start_line]
    line = state.src[start : state.eMarks[start_line]]
    if not line.startswith(fence) or fence in line[2:] or state.is_code_block(start_line):
        return False
    # row loop: the lines of one block
    for number in range(start_line + 1, end_line):
        if not silent and state.sCount[number] < state.blkIndent and not state.isEmpty(number):
            return False
        if fence in state.src[state.bMarks[number] : state.eMarks[number]]:
            if not silent:
                state.line = number + 1
                state.push(f"{fence}_block", "", 0).map = [start_line, number + 1]
            return True
    return False


_Rule = Callable[[StateBlock, int, int, bool], bool]
# name: rule, first characters of the lines on which it may begin a block; in the order in which they are asked
_BEGINNING: Final[dict[str, tuple[_Rule, str]]] = {
    "math_block": (_math_block, "$"),
    "comment_block": (_comment_block, "%"),
    "fence": (fence, "`~"),
    "blockquote": (blockquote, ">"),
    "hr": (hr, "*-_"),
    "list": (list_block, "*+-0123456789"),
    "footnote": (_footnote, "["),
    "reference": (_definition, "["),
    "html_block": (html_block, "<"),
    "heading": (heading, "#"),
}


def _by_first(*names: str) -> dict[str, tuple[_Rule, ...]]:
    """The rules by the first character of the line."""
    rules = [_BEGINNING[name] for name in names]
    firsts = sorted({character for _, characters in rules for character in characters})
    return {first: tuple(rule for rule, characters in rules if first in characters) for first in firsts}


_BEGINNING_BY_FIRST: Final = _by_first(*_BEGINNING)
_INTERRUPTING_BY_FIRST: Final = _by_first(*(name for name in _BEGINNING if name not in {"comment_block", "reference"}))
_ENDING_LISTS_BY_FIRST: Final = _by_first("fence", "blockquote", "hr")
