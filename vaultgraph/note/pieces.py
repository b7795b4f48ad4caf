"""What bodies hold beside text and links, where a profile asks for it: the door of reading parts of notes.

`read` calls it with the bodies and headings of a batch. Decides which bodies are parsed (all, where `structure:`
declares something; otherwise those whose tasks and fields their lines do not decide), parses each once, and makes
columns of what is found. Nothing is known here of ids of notes, labels or other notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from vaultgraph.note.fields import Field, bodies_with_fields, exact_fields, plain_fields
from vaultgraph.note.inline import TokenKind
from vaultgraph.note.links import link_rows
from vaultgraph.note.pieces_note import matches_of, pieces_of
from vaultgraph.note.pieces_rows import NotePieces, placed
from vaultgraph.note.records import CELLS, PIECES, LinkSyntax
from vaultgraph.note.structure import block_parser
from vaultgraph.note.tasks import bodies_with_tasks, exact_tasks, plain_tasks
from vaultgraph.profile.settings import Reading, Structure

_NO_STRUCTURE: Final = Structure()
_NOTHING: Final = pl.lit(None, dtype=pl.String)
_TARGETS: Final = pl.Schema(
    {
        "note": pl.UInt32,
        "line": pl.Int32,
        "heading": pl.UInt32,  # row of HEADINGS
        "rule": pl.Int32,
        "name": pl.String,  # inside of a wikilink, or plain text
        "is_name": pl.Boolean,
        "is_embed": pl.Boolean,
    }
)

Problem = tuple[int, int, str, str, str]  # as in PROBLEMS


class Body(NamedTuple):
    """A body with LF as line ends: its note, the 1-based line of the file it starts on, and its text."""

    note: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What was found: tables of the same names, ``links`` with the columns of LINKS, and ``fields``: note, line of the
    file and field. All in the order of the bodies."""

    pieces: pl.DataFrame
    cells: pl.DataFrame
    links: pl.DataFrame
    problems: Sequence[Problem]
    fields: Sequence[tuple[int, int, Field]]


@dataclass(slots=True)
class _Rows:
    pieces: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    cells: list[tuple[int, int, str, str, int]] = field(default_factory=list[tuple[int, int, str, str, int]])
    targets: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    problems: list[Problem] = field(default_factory=list[Problem])
    fields: list[tuple[int, int, Field]] = field(default_factory=list[tuple[int, int, Field]])


def reads_parts(reading: Reading) -> bool:
    """Whether the profile asks for anything that is read here."""
    has_structure = (reading.structure or _NO_STRUCTURE) != _NO_STRUCTURE
    return has_structure or reading.inline_fields or reading.tasks is not None


def read_parts(bodies: Sequence[Body], headings: pl.DataFrame, reading: Reading) -> Parts:
    """The parts of ``bodies``, which are in order of notes; ``headings``: the table HEADINGS of their notes."""
    structure = reading.structure or _NO_STRUCTURE
    has_structure = structure != _NO_STRUCTURE
    has_tasks, has_fields, to_parse = _wanted([body.text for body in bodies], reading, has_structure)
    matches = matches_of(headings["text"].unique(), structure)
    by_note = _headings_by_note(headings)
    parser = block_parser().enable("table")
    rows = _Rows()
    # row loop: the bodies of the batch
    for body, with_tasks, with_fields, is_parsed in zip(bodies, has_tasks, has_fields, to_parse, strict=True):
        if not (with_tasks or with_fields or has_structure):
            continue
        tokens = parser.parse(body.text, {}) if is_parsed else []
        if with_fields:
            found = exact_fields(tokens) if is_parsed else plain_fields(body.text)
            rows.fields += [(body.note, body.line + one.row, one) for one in found]
        if with_tasks or has_structure:
            tasks = (exact_tasks(tokens) if is_parsed else plain_tasks(body.text)) if with_tasks else ()
            first, stated = by_note.get(body.note, (0, []))
            placed_headings = [(line - body.line, level, text) for line, level, text in stated]
            _add(rows, body, pieces_of(body.text, tokens, placed_headings, structure, matches, tasks), first)
    return Parts(
        pieces=_frame(rows.pieces, PIECES),
        cells=_frame(rows.cells, CELLS),
        links=_table_links(_frame(rows.targets, _TARGETS), headings, structure),
        problems=rows.problems,
        fields=rows.fields,
    )


def _wanted(
    texts: Sequence[str], reading: Reading, has_structure: bool
) -> tuple[Sequence[bool], Sequence[bool], Sequence[bool]]:
    """Which bodies may have tasks, which may have fields, and which are parsed."""
    bodies = pl.Series(texts, dtype=pl.String)
    none = bodies.is_null()
    has_tasks, hard_tasks = bodies_with_tasks(bodies) if reading.tasks is not None else (none, none)
    has_fields, hard_fields = bodies_with_fields(bodies) if reading.inline_fields else (none, none)
    to_parse = ~none if has_structure else hard_tasks | hard_fields
    return has_tasks.to_list(), has_fields.to_list(), to_parse.to_list()


def _headings_by_note(headings: pl.DataFrame) -> dict[int, tuple[int, list[tuple[int, int, str]]]]:
    """For each note the row of its first heading, and line of the file, level and text of all."""
    by_note: dict[int, tuple[int, list[tuple[int, int, str]]]] = {}
    columns = (headings[name].to_list() for name in ("note", "line", "level", "text"))
    # row loop: the headings of the batch
    for row, (note, line, level, text) in enumerate(zip(*columns, strict=True)):
        by_note.setdefault(note, (row, []))[1].append((line, level, text))
    return by_note


def _add(rows: _Rows, body: Body, found: NotePieces, first_heading: int) -> None:
    """Takes the pieces of one note; ``first_heading``: the row of its first heading."""
    place = found.places()
    rows.pieces += placed(body.note, body.line, found, place)
    rows.cells += [
        (body.note, place[cell.piece], cell.key, cell.text, body.line + cell.row)
        for cell in sorted(found.cells, key=lambda cell: place[cell.piece])
    ]
    # row loop: the relationships of one note, in the order of their pieces
    for target in sorted(found.targets, key=lambda target: place[target.piece]):
        piece = found.pieces[target.piece]
        where = (body.note, body.line + piece.row, first_heading + piece.heading, piece.rule)
        rows.targets.append((*where, target.text, target.is_name, target.is_embed))
    rows.problems += [
        (body.note, body.line + fault.row, fault.code, fault.severity, fault.message) for fault in found.faults
    ]


def _table_links(targets: pl.DataFrame, headings: pl.DataFrame, structure: Structure) -> pl.DataFrame:
    """The rows of LINKS of the rows of tables, one each and in their order."""
    types = pl.Series([rule.edge for rule in structure.tables], dtype=pl.String)
    stated = targets.with_row_index("place").with_columns(
        section=headings["text"].gather(targets["heading"]), stated_type=types.gather(targets["rule"])
    )
    tokens = stated.filter("is_name").with_columns(
        kind=pl.lit(int(TokenKind.WIKILINK), dtype=pl.UInt8), text=_NOTHING, title=_NOTHING, property=_NOTHING
    )
    named = link_rows(tokens).select("place", "target", "anchor", "display", "width", "height")
    return (
        stated.join(named, on="place", how="left", maintain_order="left")
        .with_columns(
            target=pl.coalesce("target", "name"),
            syntax=pl.lit(int(LinkSyntax.TABLE), dtype=pl.UInt8),
            type=pl.col("stated_type"),
            property=_NOTHING,
        )
        .drop("place", "heading", "rule", "name", "is_name", "stated_type")
    )


def _frame(rows: Sequence[tuple[object, ...]], schema: pl.Schema) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema)
