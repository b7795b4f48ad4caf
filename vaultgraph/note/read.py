"""A batch of files to a RecordTable: the one door of reading notes.

Reading one note and reading ten thousand is the same call. Bytes are decoded and frontmatter is parsed note by note;
bodies are scanned together as columns (`segments`, `tokens`, `links`). Pure: no file is opened here, nothing is
resolved against other notes, and a faulty file is a problem row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import gt
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vaultgraph.note.alone import TEXTS, made_of, selected
from vaultgraph.note.canvas import CanvasError, read_canvas
from vaultgraph.note.field_rows import with_field_keys, with_fields
from vaultgraph.note.fronts import BOM, Fronts, fronts_of
from vaultgraph.note.inline import TokenKind
from vaultgraph.note.lines import BoolArray, IntArray, at_rows
from vaultgraph.note.links import link_rows, tag_rows
from vaultgraph.note.patterns import WIKILINK
from vaultgraph.note.pieces import Body, Parts, read_parts, reads_parts
from vaultgraph.note.properties import Collector, Statements
from vaultgraph.note.records import SCHEMAS, LinkSyntax, RecordTable, content_hash
from vaultgraph.note.segments import find_segments
from vaultgraph.note.tokens import find_tokens
from vaultgraph.profile.settings import Reading

_FEW: Final = 50  # files, which take less time one by one
_CANVAS: Final = ".canvas"


def read_notes(
    paths: Sequence[str],
    contents: Sequence[bytes] | pl.Series,
    reading: Reading | None = None,
    hashes: Sequence[bytes] | None = None,
) -> RecordTable:
    """What the files state. ``paths`` are vault-relative and distinct, ``contents`` their bytes (or Binary), in any
    order; ``hashes`` those of the contents, where they are known.

    ``reading`` says what is read beside that: parts of bodies, inline fields, tasks; None: nothing.

    A path ending in ``.canvas`` (any case) is read as a JSON Canvas, every other one as a note. The tables are sorted
    by path, and within a note by line and position.
    """
    data = contents if isinstance(contents, pl.Series) else pl.Series(contents, dtype=pl.Binary)
    hashes = [content_hash(content) for content in contents] if hashes is None else hashes
    if any(map(gt, paths, islice(paths, 1, None))):
        order = sorted(range(len(paths)), key=paths.__getitem__)
        data = at_rows(data, np.array(order, dtype=np.int64))
        paths, hashes = [paths[position] for position in order], [hashes[position] for position in order]
    names = pl.Series("path", paths, dtype=pl.String)
    is_canvas = np.array([path[-1:] in "sS" and path[-len(_CANVAS) :].lower() == _CANVAS for path in paths], np.bool_)
    sizes = pl.Series([len(content) for content in data.to_list()]) if len(data) < _FEW else data.bin.size()
    batch = _Batch(names, is_canvas, hashes, sizes, _has_returns(data))
    is_body = np.ones(len(data), dtype=np.bool_)
    for note in _not_text(data):
        is_body[note] = False
        batch.add_problem(note, None, "not-utf8", "the file is not UTF-8; its content is not read")
    # row loop: canvases
    for note in np.flatnonzero(batch.is_canvas & is_body).tolist():
        _add_canvas(batch, note, data[note])
    owners = np.flatnonzero(is_body & ~batch.is_canvas)
    texts = (data if len(owners) == len(data) else at_rows(data, owners)).alias("data")
    fronts = fronts_of(texts)
    bodies = selected(pl.DataFrame([texts, pl.Series("start", fronts.starts)]), [_BODY])["body"]
    del contents, data, texts  # the bodies are a copy
    return _assembled(batch, owners, fronts, bodies, reading if reading is not None and reads_parts(reading) else None)


@dataclass(slots=True)
class _Batch:
    """The files of a batch, and what they state that is no column."""

    paths: pl.Series
    is_canvas: BoolArray
    hashes: Sequence[bytes]
    sizes: pl.Series
    has_returns: bool  # CR, in any of them
    cards: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])  # note, line, text
    card_links: list[tuple[int, int, int, str, str | None]] = field(
        default_factory=list[tuple[int, int, int, str, str | None]]
    )
    problems: list[tuple[int, int | None, str, str, str]] = field(
        default_factory=list[tuple[int, int | None, str, str, str]]
    )

    def add_problem(self, note: int, line: int | None, code: str, message: str, severity: str = "warning") -> None:
        self.problems.append((note, line, code, severity, message))


def _not_text(contents: pl.Series) -> set[int]:
    """Which of ``contents`` are not UTF-8; nearly always none, so all are looked at in one step first."""
    try:
        contents.cast(pl.String)
    except pl.exceptions.ComputeError:
        return {note for note, data in enumerate(contents) if not _is_text(data)}
    return set()


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _add_canvas(batch: _Batch, note: int, data: bytes) -> None:
    try:
        canvas = read_canvas(data.removeprefix(BOM).decode())
    except CanvasError as error:
        batch.add_problem(note, error.line, "bad-canvas", f"the file is not a JSON Canvas: {error}")
        return
    batch.card_links += [(note, line, LinkSyntax.CANVAS, path, anchor) for path, anchor, line in canvas.files]
    batch.card_links += [(note, line, LinkSyntax.URL, address, None) for address, line in canvas.addresses]
    batch.cards += [(note, line, card) for card, line in canvas.texts]


def _has_returns(contents: pl.Series) -> bool:
    if len(contents) < _FEW:
        return any(b"\r" in content for content in contents.to_list())
    return made_of(contents, _HAS_RETURN).any()


def _scanned(batch: _Batch, bodies: pl.Series) -> pl.Series:
    """What is scanned for links: bodies with LF as line ends, then the cards of canvases."""
    if batch.has_returns:
        bodies = made_of(bodies, _WITHOUT_RETURNS)
    if not batch.cards:
        return bodies
    return pl.concat([bodies, pl.Series("body", [text for *_, text in batch.cards], dtype=pl.String)])


def _assembled(
    batch: _Batch, notes: IntArray, fronts: Fronts, bodies: pl.Series, reading: Reading | None
) -> RecordTable:
    """The records of a batch, of whose files the rows ``notes`` have ``bodies``."""
    scanned = _scanned(batch, bodies)
    lines, segments = find_segments(scanned)
    first, body_of = lines.first, lines.body
    del lines  # their texts are a copy of the bodies
    owners = np.append(notes, [note for note, *_ in batch.cards]).astype(np.uint32)
    is_canvas = np.arange(len(owners)) >= len(notes)
    # a card is one string in its file: its lines are not lines of the file
    offsets = np.append(1 + fronts.lines, [line for _, line, _ in batch.cards]).astype(np.int64)
    starts = np.where(is_canvas, 0, first[:-1] - offsets)

    def placed(frame: pl.DataFrame, rows: IntArray) -> pl.DataFrame:
        """Adds ``note`` and the 1-based ``line`` of the file for the lines ``rows`` of the batch."""
        body = body_of[rows]
        line = np.where(is_canvas[body], offsets[body], rows - starts[body]).astype(np.int32)
        return _with(frame, pl.Series("note", owners[body]), pl.Series("line", line))

    tokens = find_tokens(segments)
    row = segments.text["row"].to_numpy()[tokens["segment"].to_numpy()]
    sections = _sections(segments.headings, row, body_of)
    tokens = placed(_with(tokens, sections, _nothing("property", len(row))), tokens["line"].to_numpy())
    headings = placed(segments.headings, segments.headings["row"].to_numpy())
    blocks = placed(segments.blocks, segments.blocks["row"].to_numpy())
    del segments
    if batch.cards:
        in_note = ~pl.col("body").is_in(np.flatnonzero(is_canvas))
        headings, blocks = headings.filter(in_note), blocks.filter(in_note)
    has_front = fronts.sources != ""
    collector = Collector(notes[has_front.to_numpy()], fronts.sources.filter(has_front))
    stated = collector.statements()
    for note, error in collector.refused:
        message = f"the frontmatter is not read: {error.reason}"
        batch.add_problem(note, error.line, "bad-frontmatter", message, error.severity)
    beside = None
    if reading is not None:
        rows = zip(notes.tolist(), (1 + fronts.lines).tolist(), scanned, strict=False)  # cards follow the bodies
        left_out = set(stated.skipped)
        beside = read_parts([Body(*row) for row in rows if row[0] not in left_out], headings, reading)
        batch.problems += beside.problems
    if beside is not None and beside.fields:
        tokens = with_field_keys(tokens, beside.fields)
    links = link_rows(pl.concat([_frontmatter_tokens(stated), tokens], how="diagonal") if stated.links else tokens)
    links = pl.concat([_card_links(batch), links], how="diagonal") if batch.card_links else links
    if beside is not None:
        links = _with_beside(links, beside)
    tags = _told(stated.tags, is_inline=False).vstack(_told(tag_rows(tokens), is_inline=True))
    return RecordTable(
        notes=_notes(batch, stated, headings, notes, 1 + fronts.lines, bodies),
        properties=with_fields(stated.properties, beside.fields) if beside is not None else stated.properties,
        links=_in_order(_shaped(links, "links")),
        tags=_in_order(tags),
        headings=_shaped(headings, "headings"),
        blocks=_shaped(blocks, "blocks"),
        pieces=beside.pieces if beside is not None else _EMPTY["pieces"].clone(),
        cells=beside.cells if beside is not None else _EMPTY["cells"].clone(),
        problems=_problems(batch, stated),
    )


def _with_beside(links: pl.DataFrame, beside: Parts) -> pl.DataFrame:
    """The links, those in inline fields with their key, and behind them the relationships of tables."""
    if "field" in links.columns:
        links = links.with_columns(property=pl.coalesce("property", "field"))
    return pl.concat([links, beside.links], how="diagonal") if beside.links.height else links


_NOTHING: Final = pl.lit(None, dtype=pl.String)
_NO_TEXT: Final = pl.Series([None], dtype=pl.String)
_EMPTY: Final = {name: schema.to_frame() for name, schema in SCHEMAS.items()}
_HAS_RETURN: Final = TEXTS.bin.contains(b"\r")
_WITHOUT_RETURNS: Final = TEXTS.str.replace_all("\r\n", "\n", literal=True).str.replace_all("\r", "\n", literal=True)
_TITLE: Final = pl.col("title")
_STEM: Final = _TITLE.str.extract(r"([^/]+)\.[^./]*\z")  # of a path
_BODY: Final = pl.col("data").bin.slice(pl.col("start")).cast(pl.String).alias("body")


def _with(frame: pl.DataFrame, *columns: pl.Series) -> pl.DataFrame:
    """The frame with ``columns``, in place of those of the same names."""
    names = {column.name for column in columns}
    return pl.DataFrame([*(column for column in frame.get_columns() if column.name not in names), *columns])


def _nothing(name: str, size: int) -> pl.Series:
    return _NO_TEXT.new_from_index(0, size).alias(name)


def _shaped(frame: pl.DataFrame, table: str) -> pl.DataFrame:
    """The columns of ``table``, none of which an empty frame needs to have."""
    if not frame.height:
        return _EMPTY[table].clone()
    return pl.DataFrame([frame[name].cast(kind) for name, kind in SCHEMAS[table].items()])


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows by note and line, others in the order they have."""
    note, line = frame["note"].to_numpy(), frame["line"].to_numpy()
    if np.all((note[1:] > note[:-1]) | ((note[1:] == note[:-1]) & (line[1:] >= line[:-1]))):
        return frame if frame.n_chunks() == 1 else pl.DataFrame([column.rechunk() for column in frame.get_columns()])
    index = pl.Series(np.lexsort((line, note)).astype(np.uint32))
    return pl.DataFrame([column[index] for column in frame.get_columns()])


def _told(tags: pl.DataFrame, *, is_inline: bool) -> pl.DataFrame:
    """Rows of TAGS."""
    return tags.hstack([pl.Series("is_inline", np.full(tags.height, is_inline, dtype=np.bool_))])


def _sections(headings: pl.DataFrame, rows: IntArray, body_of: IntArray) -> pl.Series:
    """The text of the nearest heading at or above each row of the batch, within the same body."""
    if not headings.height:
        return _nothing("section", len(rows))
    at = headings["row"].to_numpy()
    nearest = np.searchsorted(at, rows, side="right") - 1
    is_outside = (nearest < 0) | (headings["body"].to_numpy()[nearest] != body_of[rows])
    nearest[is_outside] = 0
    sections = headings["text"][pl.Series(nearest.astype(np.uint32))].alias("section")
    return sections.set(pl.Series(is_outside), None) if is_outside.any() else sections


def _frontmatter_tokens(stated: Statements) -> pl.DataFrame:
    schema = {"note": pl.UInt32, "property": pl.String, "text": pl.String, "line": pl.Int32}
    texts = pl.DataFrame(stated.links, schema=schema, orient="row")
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
    return pl.DataFrame(batch.card_links, schema=schema, orient="row").with_columns(is_embed=pl.lit(False))


def _problems(batch: _Batch, stated: Statements) -> pl.DataFrame:
    refused = [
        (note, line, "bad-tag", "info", f"{tag!r} is not a tag: no blank space, comma or digits only")
        for note, line, tag in stated.refused_tags
    ]
    rows = sorted([*batch.problems, *refused], key=lambda row: row[0])
    if not rows:
        return _EMPTY["problems"].clone()
    return pl.DataFrame(rows, schema=SCHEMAS["problems"], orient="row")


def _notes(
    batch: _Batch, stated: Statements, headings: pl.DataFrame, owners: IntArray, body_lines: IntArray, bodies: pl.Series
) -> pl.DataFrame:
    """The table NOTES; ``body_lines`` and ``bodies`` are of the notes ``owners``."""
    count = len(batch.paths)
    is_skipped = np.zeros(count, dtype=np.bool_)
    is_skipped[stated.skipped] = True
    lines = np.ones(count, dtype=np.int32)
    lines[owners] = body_lines
    if len(owners) < count:
        rows = np.full(count, len(owners), dtype=np.int64)
        rows[owners] = np.arange(len(owners))
        bodies = at_rows(bodies.extend_constant(None, 1), rows)
    columns: dict[str, Sequence[bytes] | BoolArray | NDArray[np.int32] | pl.Series] = {
        "path": batch.paths,
        "hash": batch.hashes,
        "size_bytes": batch.sizes,
        "is_canvas": batch.is_canvas,
        "is_skipped": is_skipped,
        "title": _titles(batch.paths, stated.titles, headings),
        "body": bodies,
        "body_line": lines,
    }
    return pl.DataFrame([pl.Series(name, columns[name], dtype=kind) for name, kind in SCHEMAS["notes"].items()])


def _titles(paths: pl.Series, stated: Mapping[int, str], headings: pl.DataFrame) -> pl.Series:
    """What each note states, or its first heading, or its stem."""
    is_title = headings["text"] != ""
    note, texts = headings["note"].filter(is_title).to_numpy(), headings["text"].filter(is_title)
    is_first = np.ones(len(note), dtype=np.bool_)
    is_first[1:] = note[1:] != note[:-1]
    texts = pl.concat([paths, texts.filter(pl.Series(is_first)), pl.Series(list(stated.values()), dtype=pl.String)])
    place = np.arange(len(paths))
    place[note[is_first]] = len(paths) + np.arange(np.count_nonzero(is_first))
    place[list(stated)] = len(texts) - len(stated) + np.arange(len(stated))
    is_lacking = place < len(paths)
    titles = at_rows(texts, place)
    if is_lacking.any():
        stems = pl.when(pl.Series(is_lacking)).then(pl.coalesce(_STEM, _TITLE)).otherwise(_TITLE)
        titles = selected(titles.to_frame("title"), [stems])["title"]
    return titles
