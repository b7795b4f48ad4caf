"""The chunks of one body: its leaf blocks packed in order up to the limits, never across a heading.

What stands between blocks (comments, rules, reference definitions, block ids) is in no chunk. A block with a block id
is a chunk of its own, whole; any other block over the limits is split at lines, then at words, then anywhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id, lone_id, trimmed
from vaultgraph.note.pieces_outline import Outline

_PROSE: Final = frozenset(
    ("paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "footnote_open")
)
_LEAVES: Final = _PROSE | {"table_open", "fence", "code_block", "html_block", "$$_block"}
_WORD: Final = re.compile(r"[^ \t\n]+")


class Block(NamedTuple):
    """A leaf block: its lines (0-based, half-open), its text, how many words that has at most, and its block id.

    ``is_prose``: its lines may be split between words; rows of tables and lines of code are not, for being many words.
    """

    start: int
    end: int
    text: str
    most_words: int
    block: str | None
    is_prose: bool


class Chunk(NamedTuple):
    """Blocks packed together: the line the first is on, the position of the heading above, the text, the block id.

    ``split``: the line of the block it is a part of, -1 where it holds whole ones.
    """

    row: int
    heading: int
    text: str
    block: str | None
    split: int


class Limits(NamedTuple):
    """What a chunk holds at most."""

    words: int
    chars: int


def leaf_blocks(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Block]:
    """The leaf blocks at the top level in order; a block id alone in the paragraph below a block names it."""
    held: Block | None = None
    # row loop: the top-level blocks of one body
    for position, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        start, end = token.map
        is_paragraph = token.type == "paragraph_open"
        lone = lone_id(tokens[position + 1].content) if is_paragraph else None
        if lone is not None and held is not None and held.block is None:
            held = held._replace(end=end, block=lone)
            continue
        if held is not None:
            yield held
        held = None
        if token.type in _LEAVES:
            text = trimmed(lines[start:end])
            if text.strip() and (token.type != "html_block" or not _is_comment(text)):
                block, is_prose = block_id(text) if is_paragraph else None, token.type in _PROSE
                held = Block(start, start + text.count("\n") + 1, text, _most_words(text), block, is_prose)
    if held is not None:
        yield held


def chunks_of(blocks: Iterable[Block], outline: Outline, lines: Sequence[str], limits: Limits) -> Iterator[Chunk]:
    """The chunks of the blocks, in order."""
    pack = _Pack(limits, lines)
    # row loop: the blocks of one body
    for block in blocks:
        at, is_alone = outline.position(block.start), block.block is not None or _is_long(block, limits)
        if pack.blocks and (at != pack.heading or is_alone or not pack.has_room(block)):
            yield pack.taken()
        if block.block is not None:
            yield Chunk(block.start, at, block.text, block.block, -1)
        elif is_alone:
            for row, text in split_text(block.text, limits, block.is_prose):
                yield Chunk(block.start + row, at, text, None, block.start)
        else:
            pack.heading = at
            pack.add(block)
    if pack.blocks:
        yield pack.taken()


class _Pack:
    """The blocks of the chunk at hand. Words are counted only where blank characters do not show that they fit."""

    def __init__(self, limits: Limits, lines: Sequence[str]) -> None:
        self.blocks: list[Block] = []
        self.heading: int = -1
        self._limits, self._lines = limits, lines
        self._words = self._chars = 0
        self._is_exact = self._is_broken = False  # words are counted; something that is no block stands between

    def has_room(self, block: Block) -> bool:
        """Whether the block fits behind those here."""
        if self._chars + max(block.start - self.blocks[-1].end + 1, 2) + len(block.text) > self._limits.chars:
            return False
        most = _words(block.text) if self._is_exact else block.most_words
        if self._words + most <= self._limits.words:
            return True
        if not self._is_exact:
            self._words, self._is_exact = sum(_words(other.text) for other in self.blocks), True
        return self._words + _words(block.text) <= self._limits.words

    def add(self, block: Block) -> None:
        """Takes a block for which there is room."""
        if self.blocks:
            between = self._lines[self.blocks[-1].end : block.start]
            if between != [""]:
                self._is_broken |= any(map(str.strip, between))
            self._chars += max(sum(map(len, between)) + len(between) + 1, 2)
        self._words += _words(block.text) if self._is_exact else block.most_words
        self._chars += len(block.text)
        self.blocks.append(block)

    def taken(self) -> Chunk:
        """The chunk of the blocks here, which are then gone."""
        blocks, lines = self.blocks, self._lines
        if self._is_broken:
            parts = [blocks[0].text]
            for before, block in pairwise(blocks):
                parts += (_gap(before, block, lines), block.text)
            text = "".join(parts)
        else:
            text = "\n".join(lines[blocks[0].start : blocks[-1].end])
        chunk = Chunk(blocks[0].start, self.heading, text, None, -1)
        self.blocks = []
        self._words = self._chars = 0
        self._is_exact = self._is_broken = False
        return chunk


def _words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _most_words(text: str) -> int:
    return 1 + text.count(" ") + text.count("\n") + text.count("\t")


def _is_long(block: Block, limits: Limits) -> bool:
    is_wordy = block.most_words > limits.words and _words(block.text) > limits.words
    return is_wordy or len(block.text) > limits.chars


def split_text(text: str, limits: Limits, is_prose: bool = True) -> Iterator[tuple[int, str]]:
    """Parts of ``text`` within the limits, each with the line of the text it begins on.

    Every word of the text is in one of them, in order. A word over the limit of characters is cut; a line that is no
    prose is not cut for its words.
    """
    part: list[str] = []
    words = chars = start = 0
    # row loop: the lines of one block
    for row, line in enumerate(text.split("\n")):
        count, size = _words(line), len(line)
        is_long = (count > limits.words and is_prose) or size > limits.chars
        if part and (is_long or words + count > limits.words or chars + 1 + size > limits.chars):
            yield start, trimmed(part)
            part, words, chars = [], 0, 0
        if is_long:
            yield from ((row, piece) for piece in _split_line(line, limits))
        elif part or count:
            start, chars = (start, chars + 1 + size) if part else (row, size)
            words += count
            part.append(line)
    if part:
        yield start, trimmed(part)


def _split_line(line: str, limits: Limits) -> Iterator[str]:
    """The words of a line in parts within the limits, with what stands between them."""
    start = end = words = 0
    # row loop: the words of one line
    for found in _WORD.finditer(line):
        if words and (words >= limits.words or found.end() - start > limits.chars):
            yield line[start:end]
            words = 0
        if not words:
            start = found.start()
        # row loop: the parts of one word
        while found.end() - start > limits.chars:
            yield line[start : start + limits.chars]
            start += limits.chars
        end, words = found.end(), words + 1
    if words:
        yield line[start:end]


def _gap(before: Block, after: Block, lines: Sequence[str]) -> str:
    """What stands between two blocks in the source; a blank line where that is more than blank lines."""
    between = lines[before.end : after.start]
    return "\n".join(["", *between, ""]) if not any(map(str.strip, between)) else "\n\n"


def _is_comment(text: str) -> bool:
    """Whether an HTML block is one comment and nothing else."""
    return text.lstrip(" ").startswith("<!--") and text.find("-->") in {-1, len(text) - 3}
