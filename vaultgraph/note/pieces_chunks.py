"""The chunks of one body: its leaf blocks packed in order up to the limits, never across a heading.

What stands between blocks (comments, rules, reference definitions) is in no chunk. A block with a block id is a chunk
of its own, whole; any other block over the limits is split at lines, then at words, then anywhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id, lone_id, trimmed
from vaultgraph.note.pieces_outline import Outline

_PROSE: Final = frozenset(("paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open"))
_LEAVES: Final = _PROSE | {"table_open", "fence", "code_block", "html_block", "$$_block"}
_WORD: Final = re.compile(r"\S+\s*")


class Block(NamedTuple):
    """A leaf block: its lines (0-based, half-open), its text, and the block id that names it.

    ``is_prose``: its lines may be split between words; rows of tables and lines of code are not, for being many words.
    """

    start: int
    end: int
    text: str
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
    """The leaf blocks at the top level in order; a block id alone in the paragraph below a block belongs to it."""
    held: Block | None = None
    # row loop: the top-level blocks of one body
    for position, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        start, end = token.map
        is_paragraph = token.type == "paragraph_open"
        lone = lone_id(tokens[position + 1].content) if is_paragraph else None
        if lone is not None and held is not None and held.block is None:
            held = Block(held.start, end, trimmed(lines[held.start : end]), lone, held.is_prose)
            continue
        if held is not None:
            yield held
        held = None
        if token.type in _LEAVES:
            text = trimmed(lines[start:end])
            if token.type != "html_block" or not _is_comment(text):
                block, is_prose = block_id(text) if is_paragraph else None, token.type in _PROSE
                held = Block(start, start + text.count("\n") + 1, text, block, is_prose)
    if held is not None:
        yield held


def chunks_of(blocks: Iterable[Block], outline: Outline, lines: Sequence[str], limits: Limits) -> Iterator[Chunk]:
    """The chunks of the blocks, in order."""
    packed: list[Block] = []
    words = chars = 0
    heading = -1
    # row loop: the blocks of one body
    for block in blocks:
        at, count = outline.position(block.start), len(block.text.split())
        is_alone = block.block is not None or count > limits.words or len(block.text) > limits.chars
        gap = len(_gap(packed[-1], block, lines)) if packed else 0
        is_full = words + count > limits.words or chars + gap + len(block.text) > limits.chars
        if packed and (at != heading or is_alone or is_full):
            yield _packed(packed, heading, lines)
            packed, words, chars, gap = [], 0, 0, 0
        heading = at
        if block.block is not None:
            yield Chunk(block.start, at, block.text, block.block, -1)
        elif is_alone:
            for row, text in split_text(block.text, limits, block.is_prose):
                yield Chunk(block.start + row, at, text, None, block.start)
        else:
            packed.append(block)
            words, chars = words + count, chars + gap + len(block.text)
    if packed:
        yield _packed(packed, heading, lines)


def split_text(text: str, limits: Limits, is_prose: bool = True) -> Iterator[tuple[int, str]]:
    """Parts of ``text`` within the limits, each with the line of the text it begins on.

    Every word of the text is in one of them, in order. A word over the limit of characters is cut; a line that is no
    prose is not cut for its words.
    """
    part: list[str] = []
    words = chars = start = 0
    # row loop: the lines of one block
    for row, line in enumerate(text.split("\n")):
        count, size = len(line.split()), len(line)
        if part and (words + count > limits.words or chars + 1 + size > limits.chars):
            if any(map(str.strip, part)):
                yield start, "\n".join(part)
            part, words, chars = [], 0, 0
        if (count > limits.words and is_prose) or size > limits.chars:
            for piece in _split_line(line, limits):
                yield row, piece
            continue
        if not part:
            start = row
        chars += size + (1 if part else 0)
        part.append(line)
        words += count
    if any(map(str.strip, part)):
        yield start, "\n".join(part)


def _split_line(line: str, limits: Limits) -> Iterator[str]:
    part, words = "", 0
    # row loop: the words of one line
    for found in _WORD.finditer(line):
        word = found.group()
        if part and (words >= limits.words or len(part) + len(word.rstrip()) > limits.chars):
            yield part.rstrip()
            part, words = "", 0
        size = len(word.rstrip())
        if size > limits.chars:
            cuts = range(0, size, limits.chars)
            yield from (word[cut : cut + limits.chars] for cut in cuts[:-1])
            word = word[cuts[-1] :]
        part, words = part + word, words + 1
    if part.strip():
        yield part.rstrip()


def _packed(blocks: Sequence[Block], heading: int, lines: Sequence[str]) -> Chunk:
    parts = [blocks[0].text]
    for before, block in pairwise(blocks):
        parts += (_gap(before, block, lines), block.text)
    return Chunk(blocks[0].start, heading, "".join(parts), None, -1)


def _gap(before: Block, after: Block, lines: Sequence[str]) -> str:
    """What stands between two blocks in the source; a blank line where that is more than blank lines."""
    between = lines[before.end : after.start]
    return "\n".join(["", *between, ""]) if not any(map(str.strip, between)) else "\n\n"


def _is_comment(text: str) -> bool:
    """Whether an HTML block is one comment and nothing else."""
    return text.lstrip(" ").startswith("<!--") and text.find("-->") in {-1, len(text) - 3}
