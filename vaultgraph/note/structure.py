"""The exact block structure of one body, by markdown-it-py with Obsidian's two block kinds of its own.

The slow path of reading, for bodies whose lines cannot be judged one by one: fences inside lists and quotes, possible
indented code, reference definitions. It gives the stretches of inline text and the headings; inline syntax is not read
here. About 100 µs a kilobyte.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

from vaultgraph.note.lines import DELIMITER_ROW

_DELIMITER_ROW: Final = re.compile(DELIMITER_ROW, re.MULTILINE)
_FOOTNOTE: Final = re.compile(r"\[\^[^\]\[]+\]:[ \t]*")
CELL_TAG: Final = r"(^|[^\\])\|#"
"""A tag at the start of a table's cell, which needs no blank space before it; one is put there to be read."""
_CELL_TAG: Final = re.compile(CELL_TAG)
_UNDERLINED: Final = re.compile(r"[-=][ \t]*$", re.MULTILINE)
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
    parser.block.ruler.at("reference", _definition, {"alt": []})
    parser.block.ruler.before("reference", "footnote", _footnote, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.before("fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote"]})
    parser.block.ruler.before("fence", "comment_block", _comment_block, {"alt": []})
    parser.block.ruler.at("lheading", _underlined, {"alt": []})
    _interrupt_at_once(parser)
    return parser


def _interrupt_at_once(parser: MarkdownIt) -> None:
    """Ask for each line of a paragraph only the rules that its first character allows.

    By itself markdown-it-py calls all of them for every line.
    """
    only_in_lists = {"fence", "blockquote", "hr"}
    for name, rule in _INTERRUPTING.items():
        parser.block.ruler.at(name, rule, {"alt": ["list"] if name in only_in_lists else []})
    parser.block.ruler.push("interruption", _interrupted, {"alt": ["paragraph", "reference", "blockquote"]})


def _interrupted(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Whether a block begins on this line that may end a paragraph; never begins one itself."""
    start = state.bMarks[start_line] + state.tShift[start_line]
    rules = _BY_FIRST.get(state.src[start : start + 1])
    return rules is not None and silent and any(rule(state, start_line, end_line, True) for rule in rules)


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
    return below > 0 and _DELIMITER_ROW.search(text, below) is not None


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


_INTERRUPTING: Final = {
    "math_block": _math_block,
    "fence": fence,
    "blockquote": blockquote,
    "hr": hr,
    "list": list_block,
    "footnote": _footnote,
    "html_block": html_block,
    "heading": heading,
}
_FIRST: Final = {
    "math_block": "$",
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*+-0123456789",
    "footnote": "[",
    "html_block": "<",
    "heading": "#",
}
_BY_FIRST: Final = {
    first: tuple(rule for name, rule in _INTERRUPTING.items() if first in _FIRST[name])
    for first in sorted(set("".join(_FIRST.values())))
}
"""The rules that may end a paragraph, by the first character of the line."""
