"""The parts of bodies that `structure:` and `tasks:` make nodes of: the door of reading them.

`read` calls it with the bodies and headings of a batch, only where the profile declares something. One parse a note;
each kind of piece has its own module. Nothing is known here of ids of notes, labels or other notes.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import polars as pl
from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id, trimmed
from vaultgraph.note.pieces_chunks import Limits, chunks_of, leaf_blocks
from vaultgraph.note.pieces_outline import Fragments, Heading, Outline, outline_of
from vaultgraph.note.pieces_rows import Fault, NotePieces, Piece, placed
from vaultgraph.note.records import PIECES, PieceKind
from vaultgraph.note.structure import block_parser
from vaultgraph.profile.settings import Chunks, Reading, Structure

_NOTHING: Final = Structure()


class Body(NamedTuple):
    """A body with LF as line ends: its note, the 1-based line of the file it starts on, and its text."""

    note: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class PieceTables:
    """What was found: the table PIECES, and rows of PROBLEMS."""

    pieces: pl.DataFrame
    problems: list[tuple[int, int, str, str, str]]


def reads_pieces(reading: Reading | None) -> bool:
    """Whether the profile asks for anything that is read here."""
    return reading is not None and (reading.structure or _NOTHING) != _NOTHING


def read_pieces(bodies: Sequence[Body], headings: pl.DataFrame, reading: Reading) -> PieceTables:
    """The pieces of ``bodies``, which are in order of notes; ``headings``: the table HEADINGS of their notes."""
    structure = reading.structure or _NOTHING
    parser = block_parser().enable("table")
    by_note = _headings_by_note(headings)
    rows: list[tuple[object, ...]] = []
    problems: list[tuple[int, int, str, str, str]] = []
    # row loop: the bodies of the batch
    for body in bodies:
        tokens = parser.parse(body.text, {})
        found = _pieces_of(body, tokens, by_note.get(body.note, []), structure)
        rows += placed(body.note, body.line, found)
        problems += [
            (body.note, body.line + fault.row, fault.code, fault.severity, fault.message) for fault in found.faults
        ]
    columns = dict(zip(PIECES, zip(*rows, strict=True), strict=True)) if rows else {}
    return PieceTables(pl.DataFrame(columns, schema=PIECES), problems)


def _headings_by_note(headings: pl.DataFrame) -> dict[int, list[tuple[int, int, str]]]:
    """Line of the file, level and text of the headings of each note."""
    by_note: dict[int, list[tuple[int, int, str]]] = {}
    # row loop: the headings of the batch
    for note, *heading in headings.select("note", "line", "level", "text").iter_rows():
        by_note.setdefault(note, []).append((heading[0], heading[1], heading[2]))
    return by_note


def _pieces_of(
    body: Body, tokens: Sequence[Token], headings: Sequence[tuple[int, int, str]], structure: Structure
) -> NotePieces:
    lines = body.text.split("\n")
    fragments = Fragments()
    outline = outline_of(list(_headings(body, tokens, headings)), len(lines), fragments)
    has_sections = structure.sections is not None or structure.key_from_heading is not None
    found = NotePieces(outline, fragments, has_sections)
    if has_sections:
        _add_sections(found, lines, structure.sections is not None)
    if structure.chunks is not None:
        _add_chunks(found, tokens, lines, structure.chunks)
    return found


def _headings(body: Body, tokens: Sequence[Token], headings: Sequence[tuple[int, int, str]]) -> Iterator[Heading]:
    """The headings with the lines they take: one, unless they are underlined."""
    ends = {
        token.map[0]: token.map[1]
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    }
    for line, level, text in headings:
        row = line - body.line
        yield Heading(row, ends.get(row, row + 1), level, text)


def _add_sections(found: NotePieces, lines: Sequence[str], reports: bool) -> None:
    outline = found.outline
    # row loop: the headings of one body
    for position, heading in enumerate(outline.headings):
        if not found.has_room(heading.row):
            return
        found.add(
            Piece(
                PieceKind.SECTION,
                heading.row,
                outline.fragments[position],
                outline.above[position],
                level=heading.level,
                title=heading.title,
                text=trimmed(lines[heading.end : outline.ends[position]]),
                block=block_id(heading.title),
            )
        )
    for position in outline.repeated if reports else ():
        message = (
            f"another heading has the path {_path(outline, position)} already, and links find that one; "
            f"to link to this one, give a paragraph below it a block id (its own id ends in "
            f"{outline.fragments[position]!r})"
        )
        found.faults.append(Fault(outline.headings[position].row, "duplicate-heading", "info", message))


def _path(outline: Outline, position: int) -> str:
    titles: list[str] = []
    # row loop: the headings around one, at most six
    while position >= 0:
        titles.append(outline.headings[position].title)
        position = outline.above[position]
    return repr(" > ".join(reversed(titles)))


def _add_chunks(found: NotePieces, tokens: Sequence[Token], lines: Sequence[str], rule: Chunks) -> None:
    limits = Limits(rule.max_words, rule.max_chars)
    split = 0
    first = 0
    before = -1
    # row loop: the chunks of one body
    for chunk in chunks_of(leaf_blocks(tokens, lines), found.outline, lines, limits):
        if not found.has_room(chunk.row):
            return
        fragment = found.numbered(chunk.heading, "chunk")
        if chunk.block is not None and found.fragments.is_free(f"#^{chunk.block}"):
            fragment = f"#^{chunk.block}"
        digest = hashlib.sha256(chunk.text.encode()).hexdigest()
        found.add(
            Piece(
                PieceKind.CHUNK,
                chunk.row,
                fragment,
                chunk.heading,
                text=chunk.text,
                block=chunk.block,
                hash=digest,
            )
        )
        if chunk.split >= 0 and chunk.split != before:
            split, first, before = split + 1, first if split else chunk.row, chunk.split
    if split:
        blocks = "a block is" if split == 1 else f"{split} blocks are"
        message = f"{blocks} longer than a chunk may be and had to be split"
        found.faults.append(Fault(first, "split-block", "info", message))
