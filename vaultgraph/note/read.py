"""A batch of files to a RecordTable: the one door of reading notes.

Reading one note and reading ten thousand is the same call. Bytes are decoded and frontmatter is parsed note by note;
bodies are scanned together as columns (`segments`, `tokens`, `links`). Pure: no file is opened here, nothing is
resolved against other notes, and a faulty file is a problem row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.canvas import read_canvas
from vaultgraph.note.frontmatter import FrontmatterError, NoteHandler, line_count
from vaultgraph.note.inline import TokenKind
from vaultgraph.note.lines import IntArray
from vaultgraph.note.links import link_rows, tag_rows
from vaultgraph.note.patterns import WIKILINK
from vaultgraph.note.properties import Cell, Stated, stated_by
from vaultgraph.note.records import SCHEMAS, LinkSyntax, RecordTable, content_hash
from vaultgraph.note.segments import find_segments
from vaultgraph.note.tokens import find_tokens

_HANDLER: Final = NoteHandler()
_BOM: Final = b"\xef\xbb\xbf"


def read_notes(paths: Sequence[str], contents: Sequence[bytes]) -> RecordTable:
    """What the files state. ``paths`` are vault-relative and distinct, ``contents`` their bytes, in any order.

    A path ending in ``.canvas`` (any case) is read as a JSON Canvas, every other one as a note. The tables are sorted
    by path, and within a note by line and position.
    """
    order = sorted(range(len(paths)), key=paths.__getitem__)
    batch = _Batch()
    # row loop: the files of the batch
    for note, position in enumerate(order):
        path, data = paths[position], contents[position]
        is_canvas = path[-7:].lower() == ".canvas"
        batch.notes.append((path, content_hash(data), len(data), is_canvas))
        text = _decoded(data)
        if text is None:
            batch.add_problem(note, None, "not-utf8", "the file is not UTF-8; its content is not read")
            batch.add_empty()
        elif is_canvas:
            _add_canvas(batch, note, text)
        else:
            _add_note(batch, note, text)
    return _assembled(batch)


@dataclass(slots=True)
class _Batch:
    """What the loop over files gathers, as columns or rows."""

    notes: list[tuple[str, bytes, int, bool]] = field(default_factory=list[tuple[str, bytes, int, bool]])
    skipped: list[bool] = field(default_factory=list[bool])
    titles: list[str | None] = field(default_factory=list[str | None])
    bodies: list[str | None] = field(default_factory=list[str | None])
    body_lines: list[int] = field(default_factory=list[int])
    scans: list[str] = field(default_factory=list[str])  # bodies and canvas cards, line ends LF
    owners: list[int] = field(default_factory=list[int])  # the note of each scan
    offsets: list[int] = field(default_factory=list[int])  # the line of the file on which it starts
    cells: list[Cell] = field(default_factory=list[Cell])
    cell_notes: list[int] = field(default_factory=list[int])
    texts: list[tuple[int, str, str, int]] = field(default_factory=list[tuple[int, str, str, int]])
    cards: list[tuple[int, int, int, str, str | None]] = field(
        default_factory=list[tuple[int, int, int, str, str | None]]
    )
    tags: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    problems: list[tuple[int, int | None, str, str, str]] = field(
        default_factory=list[tuple[int, int | None, str, str, str]]
    )

    def add_problem(self, note: int, line: int | None, code: str, message: str, severity: str = "warning") -> None:
        self.problems.append((note, line, code, severity, message))

    def add_empty(self) -> None:
        """A file without a body."""
        self.skipped.append(False)
        self.titles.append(None)
        self.bodies.append(None)
        self.body_lines.append(1)


def _decoded(data: bytes) -> str | None:
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _add_note(batch: _Batch, note: int, text: str) -> None:
    source, body = _HANDLER.split(text)
    stated = Stated()
    if source:
        try:
            stated = stated_by(_with_plain_ends(source))
        except FrontmatterError as error:
            message = f"the frontmatter is not read: {error.reason}"
            batch.add_problem(note, error.line, "bad-frontmatter", message, error.severity)
    batch.cells += stated.cells
    batch.cell_notes += [note] * len(stated.cells)
    batch.texts += [(note, key, value, line) for key, value, line in stated.texts]
    batch.tags += [(note, line, tag) for tag, line in stated.tags]
    for tag, line in stated.refused_tags:
        batch.add_problem(note, line, "bad-tag", f"{tag!r} is not a tag: no blank space, comma or digits only", "info")
    body_line = 1 + (line_count(text[: len(text) - len(body)]) if len(body) != len(text) else 0)
    batch.skipped.append(stated.is_skipped)
    batch.titles.append(stated.title)
    batch.bodies.append(body)
    batch.body_lines.append(body_line)
    batch.scans.append(_with_plain_ends(body))
    batch.owners.append(note)
    batch.offsets.append(body_line)


def _with_plain_ends(text: str) -> str:
    return text if "\r" not in text else text.replace("\r\n", "\n").replace("\r", "\n")


def _add_canvas(batch: _Batch, note: int, text: str) -> None:
    batch.add_empty()
    try:
        canvas = read_canvas(text)
    except ValueError as error:
        batch.add_problem(note, None, "bad-canvas", f"the file is not a JSON Canvas: {error}")
        return
    batch.cards += [(note, line, LinkSyntax.CANVAS, path, anchor) for path, anchor, line in canvas.files]
    batch.cards += [(note, line, LinkSyntax.URL, address, None) for address, line in canvas.addresses]
    for card, line in canvas.texts:
        batch.scans.append(card)
        batch.owners.append(note)
        batch.offsets.append(line)


def _assembled(batch: _Batch) -> RecordTable:
    lines, segments = find_segments(batch.scans)
    owners = np.array(batch.owners, dtype=np.uint32)
    is_canvas = np.array([batch.notes[owner][3] for owner in batch.owners], dtype=np.bool_)
    # a card is one string in its file: its lines are not lines of the file
    starts = np.where(is_canvas, 0, lines.first[:-1] - np.array(batch.offsets, dtype=np.int64))
    offsets = np.array(batch.offsets, dtype=np.int64)

    def placed(frame: pl.DataFrame, row: str) -> pl.DataFrame:
        """Adds ``note`` and the 1-based ``line`` of the file for the lines of the batch in column ``row``."""
        rows = frame[row].to_numpy()
        body = lines.body[rows]
        line = np.where(is_canvas[body], offsets[body], rows - starts[body])
        return frame.with_columns(note=pl.Series(owners[body]), line=pl.Series(line, dtype=pl.Int32))

    tokens = find_tokens(segments)
    row = segments.text["row"].to_numpy()[tokens["segment"].to_numpy()]
    tokens = tokens.with_columns(section=_sections(segments.headings, row, lines.body), property=_NOTHING)
    tokens = placed(tokens, "line")
    headings, blocks = placed(segments.headings, "row"), placed(segments.blocks, "row")
    in_note = ~pl.col("body").is_in(np.flatnonzero(is_canvas))
    headings = headings.filter(in_note)
    links = link_rows(pl.concat([_frontmatter_tokens(batch), tokens], how="diagonal") if batch.texts else tokens)
    links = pl.concat([_card_links(batch), links], how="diagonal") if batch.cards else links
    tags = pl.concat([_frontmatter_tags(batch), tag_rows(tokens).with_columns(is_inline=True)], how="diagonal")
    return RecordTable(
        notes=_notes(batch, headings),
        properties=_properties(batch),
        links=_shaped(links, "links", ["note", "line"]),
        tags=_shaped(tags, "tags", ["note", "line"]),
        headings=_shaped(headings, "headings"),
        blocks=_shaped(blocks.filter(in_note), "blocks"),
        problems=pl.DataFrame(batch.problems, schema=SCHEMAS["problems"], orient="row"),
    )


_NOTHING: Final = pl.lit(None, dtype=pl.String)


def _shaped(frame: pl.DataFrame, table: str, by: list[str] | None = None) -> pl.DataFrame:
    schema = SCHEMAS[table]
    chosen = frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
    return chosen if by is None else chosen.sort(by, maintain_order=True)


def _sections(headings: pl.DataFrame, rows: IntArray, body_of: IntArray) -> pl.Series:
    """The text of the nearest heading at or above each row of the batch, within the same body."""
    if not headings.height:
        return pl.Series("section", [None] * len(rows), dtype=pl.String)
    at = headings["row"].to_numpy()
    nearest = np.searchsorted(at, rows, side="right") - 1
    is_within = (nearest >= 0) & (headings["body"].to_numpy()[nearest] == body_of[rows])
    index = pl.Series(np.where(is_within, nearest, 0)).set(pl.Series(~is_within), None)
    return headings["text"].gather(index).alias("section")


def _frontmatter_tokens(batch: _Batch) -> pl.DataFrame:
    schema = {"note": pl.UInt32, "property": pl.String, "text": pl.String, "line": pl.Int32}
    texts = pl.DataFrame(batch.texts, schema=schema, orient="row")
    raw = pl.col("name").str.strip_prefix("!").str.strip_prefix("[[").str.strip_suffix("]]")
    return (
        texts.with_columns(name=pl.col("text").str.extract_all(WIKILINK), text=_NOTHING)
        .explode("name")
        .drop_nulls("name")
        .with_columns(
            name=raw,
            kind=pl.lit(int(TokenKind.WIKILINK), dtype=pl.UInt8),
            is_embed=pl.lit(False),
            title=_NOTHING,
            section=_NOTHING,
        )
    )


def _card_links(batch: _Batch) -> pl.DataFrame:
    schema = {"note": pl.UInt32, "line": pl.Int32, "syntax": pl.UInt8, "target": pl.String, "anchor": pl.String}
    return pl.DataFrame(batch.cards, schema=schema, orient="row").with_columns(is_embed=pl.lit(False))


def _frontmatter_tags(batch: _Batch) -> pl.DataFrame:
    schema = {"note": pl.UInt32, "line": pl.Int32, "tag": pl.String}
    return pl.DataFrame(batch.tags, schema=schema, orient="row").with_columns(is_inline=pl.lit(False))


def _properties(batch: _Batch) -> pl.DataFrame:
    schema = SCHEMAS["properties"]
    columns: list[Sequence[object]] = [batch.cell_notes, *zip(*batch.cells, strict=True)]
    if not batch.cells:
        return schema.to_frame()
    order = ("note", "key", "ordinal", "kind", "number", "real", "text", "line")
    return pl.DataFrame(
        [pl.Series(name, column, dtype=schema[name]) for name, column in zip(order, columns, strict=True)]
    )


def _notes(batch: _Batch, headings: pl.DataFrame) -> pl.DataFrame:
    first = headings.filter(pl.col("text") != "").unique("note", keep="first")
    heading_of: dict[int, str] = dict(zip(first["note"].to_list(), first["text"].to_list(), strict=True))
    titles = [
        stated or heading_of.get(note) or path.rpartition("/")[2].rpartition(".")[0] or path
        for note, ((path, *_), stated) in enumerate(zip(batch.notes, batch.titles, strict=True))
    ]
    paths, hashes, sizes, canvases = zip(*batch.notes, strict=True) if batch.notes else ((), (), (), ())
    columns = (paths, hashes, sizes, canvases, batch.skipped, titles, batch.bodies, batch.body_lines)
    schema = SCHEMAS["notes"]
    return pl.DataFrame(
        [pl.Series(name, column, dtype=schema[name]) for name, column in zip(schema.names(), columns, strict=True)]
    )
