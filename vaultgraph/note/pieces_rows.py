"""The pieces of one note while they are gathered, and the rows of PIECES and CELLS they become.

Readers of each kind add to a `NotePieces`; it gives out ids and remembers what a piece hangs on. At the end the pieces
are put in order of lines and the positions follow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vaultgraph.note.pieces_outline import Fragments, Outline
from vaultgraph.note.records import PieceKind

MOST_PIECES: Final = 50_000  # pieces of one note; no more are made
SECTION: Final = -2  # as ``holder``: the section the piece lies in


class Piece(NamedTuple):
    """A piece before it has its place; ``row`` is its 0-based line of the body, ``heading`` the position of the nearest
    heading (of a SECTION: of the enclosing one), ``holder`` the number of the piece it hangs on, else SECTION."""

    kind: PieceKind
    row: int
    fragment: str
    heading: int
    holder: int = SECTION
    level: int | None = None
    title: str | None = None
    text: str | None = None
    word: str | None = None
    fold: str | None = None
    block: str | None = None
    hash: str | None = None
    size: int | None = None
    rule: int | None = None


class Cell(NamedTuple):
    """A cell of the table row that is piece number ``piece``."""

    piece: int
    key: str
    text: str
    row: int


class Target(NamedTuple):
    """What the relationship of an EDGE piece leads to; ``is_name``: the inside of a wikilink, else plain text."""

    piece: int
    text: str
    is_name: bool
    is_embed: bool


class Fault(NamedTuple):
    """A problem; ``row`` is a 0-based line of the body."""

    row: int
    code: str
    severity: str
    message: str


@dataclass(slots=True)
class NotePieces:
    """The pieces of one note by number, in the order they were found."""

    outline: Outline
    fragments: Fragments
    has_sections: bool
    pieces: list[Piece] = field(default_factory=list[Piece])
    cells: list[Cell] = field(default_factory=list[Cell])
    targets: list[Target] = field(default_factory=list[Target])
    faults: list[Fault] = field(default_factory=list[Fault])
    is_full: bool = False
    _counts: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    _keys: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    def add(self, piece: Piece) -> int:
        """Takes a piece, with an id of its own; its number. Ask `has_room` first."""
        if piece.fragment and piece.kind is not PieceKind.SECTION:
            fragment = self.fragments.unique(piece.fragment)
            if fragment != piece.fragment:
                piece = piece._replace(fragment=fragment)
        self.pieces.append(piece)
        return len(self.pieces) - 1

    def has_room(self, row: int) -> bool:
        """Whether another piece may be added; the first refusal is a problem."""
        if len(self.pieces) < MOST_PIECES:
            return True
        if not self.is_full:
            message = f"more than {MOST_PIECES} parts of one note; the rest of them are left out"
            self.faults.append(Fault(row, "many-pieces", "warning", message))
        self.is_full = True
        return False

    def numbered(self, heading: int, kind: str) -> str:
        """The next id of a ``kind`` ("chunk", "list") below a heading."""
        count = self._counts.get((heading, kind), 0) + 1
        self._counts[heading, kind] = count
        return f"{self.outline.fragment(heading)}~{kind}{count}"

    def is_new_key(self, heading: int, key: str) -> bool:
        """Whether no row of a table below a heading had this key; from now on one has."""
        is_new = (heading, key) not in self._keys
        self._keys.add((heading, key))
        return is_new

    def places(self) -> list[int]:
        """The place of each piece in the order of lines; what holds others is before them."""
        pieces = self.pieces
        order = sorted(range(len(pieces)), key=lambda number: (pieces[number].row, pieces[number].kind))
        places = [0] * len(order)
        # row loop: the pieces of one note
        for place, number in enumerate(order):
            places[number] = place
        return places


def placed(note: int, first_line: int, found: NotePieces, places: Sequence[int]) -> Iterator[tuple[object, ...]]:
    """The rows of PIECES of a note whose body starts on ``first_line`` of the file, by their ``places``."""
    counts: dict[tuple[int, int], int] = {}
    # row loop: the pieces of one note
    for piece in _sorted(found.pieces, places):
        # sections are added first, so that their numbers are the positions of their headings
        section = places[piece.heading] if found.has_sections and piece.heading >= 0 else -1
        parent = section if piece.holder == SECTION else places[piece.holder]
        ordinal = counts.get((parent, piece.kind), 0)
        counts[parent, piece.kind] = ordinal + 1
        start = (note, first_line + piece.row, int(piece.kind), piece.fragment, parent, section, ordinal)
        yield *start, *piece[5:]


def _sorted(pieces: Sequence[Piece], places: Sequence[int]) -> Sequence[Piece]:
    in_order = list(pieces)
    # row loop: the pieces of one note
    for piece, place in zip(pieces, places, strict=True):
        in_order[place] = piece
    return in_order
