"""Tables of one body, and their rows as nodes or relationships where a rule takes the heading above them.

Cells are GFM's: split at bars that are not escaped, code spans or not. What a row leads to is stated as in a wikilink;
nothing is looked up here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markdown_it.token import Token

from vaultgraph.note.patterns import WIKILINK
from vaultgraph.note.pieces_rows import Cell, Fault, NotePieces, Piece, Target
from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import TableRule

MOST_KEY: Final = 200  # characters of a column's heading, which every cell repeats
_WIKILINK: Final = re.compile(WIKILINK.replace(")*", ")*+"))
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,1000})\]\([^()\s]{0,2000}(?:\([^()\s]{0,1000}\)[^()\s]{0,1000})?\)")


@dataclass(frozen=True, slots=True)
class Table:
    """A table from line ``row``: the names of its columns, all different, and for each row its line and its cells."""

    row: int
    columns: Sequence[str]
    rows: Sequence[tuple[int, Sequence[str]]]

    def column(self, name: str | None) -> int:
        """The position of a column, as written or else in any case; -1 where there is none."""
        if name is None:
            return -1
        if name in self.columns:
            return self.columns.index(name)
        folded = [column.casefold() for column in self.columns]
        return folded.index(name.casefold()) if name.casefold() in folded else -1


def tables_of(tokens: Sequence[Token]) -> Iterator[Table]:
    """The tables of a body in order."""
    row = 0
    rows: list[tuple[int, list[str]]] = []
    is_inside = False
    # row loop: the block tokens of one body
    for token in tokens:
        if token.type == "table_open":
            row, rows, is_inside = (token.map or (0, 0))[0], [], True
        elif token.type == "tr_open":
            rows.append(((token.map or (0, 0))[0], []))
        elif token.type == "inline" and is_inside:
            rows[-1][1].append(token.content)
        elif token.type == "table_close":
            is_inside = False
            yield Table(row, _named(rows[0][1]), rows[1:])


def shown(text: str) -> str:
    """``text`` with the text that links show in their place."""
    if "[" not in text:
        return text
    return _LINK.sub(r"\1", _WIKILINK.sub(_shown_name, text)).strip()


def add_rows(found: NotePieces, table: Table, rule: TableRule, number: int) -> None:
    """Adds the rows of a table as nodes; ``number``: the position of the rule."""
    heading = found.outline.position(table.row)
    base = found.outline.fragment(heading)
    key_column = _key_column(found, table, rule)
    # row loop: the rows of one table
    for at, (row, cells) in enumerate(table.rows, 1):
        if not found.has_room(row):
            return
        key = shown(cells[key_column]) if key_column >= 0 else ""
        fragment = f"{base}~{key}" if key else f"{base}~row{at}"
        if key and not found.is_new_key(heading, key):
            message = f"the key {key!r} was there before in this section; the id of this row ends in '~row{at}' instead"
            found.faults.append(Fault(row, "duplicate-key", "warning", message))
            fragment = f"{base}~row{at}"
        piece = found.add(Piece(PieceKind.ROW, row, fragment, heading, size=at, rule=number))
        _add_cells(found, table, piece, row, cells, -1)


def add_targets(found: NotePieces, table: Table, rule: TableRule, number: int) -> None:
    """Adds the rows of a table as relationships; rows that lead nowhere are left out."""
    heading = found.outline.position(table.row)
    key_column = _key_column(found, table, rule)
    if key_column < 0:
        linked = (at for at in range(len(table.columns)) if any(_WIKILINK.search(cells[at]) for _, cells in table.rows))
        key_column = next(linked, 0)
    # row loop: the rows of one table
    for at, (row, cells) in enumerate(table.rows, 1):
        link = _WIKILINK.search(cells[key_column])
        is_embed = link is not None and link.group().startswith("!")
        text = link.group()[2 + is_embed : -2] if link is not None else shown(cells[key_column])
        if not text.strip("#| "):
            continue
        if not found.has_room(row):
            return
        piece = found.add(Piece(PieceKind.EDGE, row, "", heading, text=text, size=at, rule=number))
        found.targets.append(Target(piece, text, link is not None, is_embed))
        _add_cells(found, table, piece, row, cells, key_column)


def _add_cells(found: NotePieces, table: Table, piece: int, row: int, cells: Sequence[str], left_out: int) -> None:
    found.cells += [
        Cell(piece, column, cell, row)
        for at, (column, cell) in enumerate(zip(table.columns, cells, strict=True))
        if cell and at != left_out
    ]


def _key_column(found: NotePieces, table: Table, rule: TableRule) -> int:
    at = table.column(rule.key_column)
    if rule.key_column is not None and at < 0:
        instead = "its rows are read by the first column with a link" if rule.edges else "its rows are named by number"
        message = f"the table has no column {rule.key_column!r}; {instead}"
        found.faults.append(Fault(table.row, "missing-column", "warning", message))
    return at


def _named(headings: Sequence[str]) -> list[str]:
    """Names for the columns: their headings; a number stands in for an empty one and behind a repeated one."""
    names: list[str] = []
    taken: set[str] = set()
    # row loop: the columns of one table
    for number, heading in enumerate(headings, 1):
        name = heading[:MOST_KEY] or f"column {number}"
        if name in taken:
            name = f"{name} {number}"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return names


def _shown_name(found: re.Match[str]) -> str:
    inside = found.group().removeprefix("!")[2:-2]
    name, bar, display = inside.partition("|")
    return display if bar and display else name
