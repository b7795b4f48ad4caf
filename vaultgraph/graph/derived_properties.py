"""Properties of the parts of notes: what each kind has, the columns of its table, and what it inherits from its note.

Takes the numbered pieces and gives segments for build.py. Properties that every node of a kind may have are columns at
once; columns of tables and inherited ones go through the same typing as frontmatter.
"""

import re
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.coerce import coerced
from vaultgraph.graph.columns import Segment
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.heading_paths import MOST_TITLE
from vaultgraph.graph.names import fold, fold_text
from vaultgraph.graph.pieces import Pieces
from vaultgraph.graph.properties import property_segments
from vaultgraph.note.records import PieceKind, ValueKind
from vaultgraph.profile.settings import Profile, Structure

OWN: Final = ("id", "title", "note_id", "section_id", "ordinal", "line", "row", "block_id")
"""Properties that every row of a table has; a column of the name is kept as ``column.<name>``."""
OF_NOTES: Final = ("path", "file_path", "concept_id", "stem", "folder", "body", "size_bytes", "mtime")
"""Properties that say that a node is a note or a file; a column of the name is kept as ``column.<name>``."""
MOST_INHERITED: Final = 2000
_TEXTS: Final = [PieceKind.SECTION, PieceKind.CHUNK, PieceKind.CALLOUT, PieceKind.STEP, PieceKind.TASK]
_LONG: Final = ("node", "key", "ordinal", "kind", "number", "real", "text", "line")
_SHOWN: Final = ((r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", "$1"), (r"\[([^\[\]]*)\]\([^()]*\)", "$1"))
_PLACEHOLDER: Final = re.compile(r"\{(title|section_title|heading_path|text|id)\}")


def derived_segments(
    pieces: Pieces, cells: pl.DataFrame, properties: pl.DataFrame, titles: pl.Series, ids: pl.Series, profile: Profile
) -> tuple[dict[str, list[Segment]], pl.DataFrame]:
    """Segments by key of the nodes of ``pieces``; and the cells that are not what `types:` declares, as coerced() says.

    ``cells``: those of the records. ``properties``: frontmatter as long rows with ``file``, converted already.
    ``titles``, ``ids``: of the notes, by file row.
    """
    columns, refused = column_rows(pieces, cells, profile)
    own = _own_columns(pieces, titles, ids, _key_cells(pieces, columns, profile), profile)
    structure = profile.reading.structure or Structure()
    long = pl.concat([columns.select(_LONG), _inherited(pieces, properties, columns, structure.inherit)])
    # A key that both kinds of property have goes the way that can hold cells of any type.
    mixed = [key for key in long["key"].unique().sort() if key in own]
    if mixed:
        stated = pl.concat([_as_long(own.pop(key), key, pieces.first) for key in mixed])
        long = pl.concat([stated, long.join(stated, on=["node", "key"], how="anti", maintain_order="left")])
    segments = property_segments(long, pieces.groups)
    for key, series in own.items():  # row loop: one step a property
        segments[key] = _segments(series, pieces.groups, pieces.first)
    return segments, refused


def column_rows(pieces: Pieces, cells: pl.DataFrame, profile: Profile) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The cells of rows that are nodes, as long rows with ``node`` and ``column`` (the heading), typed; and what
    refused its type, with ``file`` of the note."""
    at = pl.Series(pieces.row_of[pieces.piece_of_cells(cells)], dtype=pl.Int64)
    rows = cells.select("key", "text", "line").with_columns(file=at).filter(at >= 0)
    long, refused = typed_cells(rows, pieces.rows["label"], (*OWN, *OF_NOTES), profile)
    refused = refused.with_columns(file=pieces.rows["file"].gather(refused["file"]))
    return long.with_columns(node=long["file"] + pieces.first), refused


def typed_cells(
    cells: pl.DataFrame, owners: pl.Series, taken: tuple[str, ...], profile: Profile
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells of tables (file, key, text, line) as long rows of properties with ``column``, and what refused its type.

    ``file`` is a position in ``owners``, the labels or relationship types under which `types:` declares columns. A key
    in ``taken`` becomes ``column.<key>``, and a heading written twice in one table a list.
    """
    column = pl.col("key").str.strip_chars()
    named = pl.when(column.is_in(list(taken)) | (column == "")).then(pl.format("column.{}", column)).otherwise(column)
    long = cells.select(
        "file",
        "line",
        pl.lit(-1, pl.Int32).alias("ordinal"),
        pl.lit(ValueKind.TEXT.value, pl.UInt8).alias("kind"),
        pl.lit(None, pl.Int64).alias("number"),
        pl.lit(None, pl.Float64).alias("real"),
        "text",
        column=column,
        key=named,
    )
    if cells.height and (repeated := long.select("file", "key").is_duplicated()).any():
        place = pl.int_range(pl.len(), dtype=pl.Int32).over("file", "key")
        long = long.with_columns(ordinal=pl.when(repeated).then(place).otherwise("ordinal"))
    declared = set(owners.unique())
    types = {label: table for label, table in profile.types.items() if label in declared}
    # No name here is the label of all notes, whose types go for everything.
    return coerced(long, owners, replace(profile, types=types, note_label=""))


def _own_columns(
    pieces: Pieces, titles: pl.Series, ids: pl.Series, keys: pl.Series, profile: Profile
) -> dict[str, pl.Series]:
    """The properties that come of the pieces themselves, by key, a value a row."""
    rows = pieces.rows
    whole = pl.Int64
    frame = rows.with_columns(
        note_id=ids.gather(rows["file"]),
        note_title=titles.gather(rows["file"]).str.slice(0, MOST_TITLE),
        section_id=rows["id"].gather(rows["section"]),
        heading=pl.col("headings").list.last(),
        key_cell=keys,
    )
    columns = {
        "id": pl.col("id"),
        "concept_id": pl.col("id"),
        "title": _titles(),
        "note_id": pl.col("note_id"),
        "section_id": pl.col("section_id"),
        "ordinal": pl.col("ordinal").cast(whole),
        "line": pl.col("line").cast(whole),
        "level": _of("level", PieceKind.SECTION, PieceKind.STEP).cast(whole),
        "path": _of("headings", PieceKind.SECTION),
        "text": _of("text", *_TEXTS),
        "chunk_hash": _of("hash", PieceKind.CHUNK),
        "kind": _of("word", PieceKind.CALLOUT),
        "fold": _of("fold", PieceKind.CALLOUT),
        "lang": _of("word", PieceKind.FENCE),
        "code": _of("text", PieceKind.FENCE),
        "caption": _of("title", PieceKind.FENCE),
        "step_count": _of("size", PieceKind.LIST).cast(whole),
        "row": _of("size", PieceKind.ROW).cast(whole),
        "status": _of("word", PieceKind.TASK),
        "done": pl.when(pl.col("kind") == PieceKind.TASK).then(pl.col("word").is_in(["x", "X"])),
        "block_id": pl.col("block"),
    }
    structure = profile.reading.structure or Structure()
    if structure.embed_text:
        columns["embed_text"] = pl.when(pl.col("text").is_not_null() & _is(*_TEXTS)).then(
            _rendered(structure.embed_text)
        )
    if structure.key_from_heading:
        name, signature = _symbol_parts()
        key = structure.key_from_heading.property
        columns = {key: name, "signature": signature} | columns
    return dict(frame.select(**columns).to_dict(as_series=True))


def _is(*kinds: PieceKind) -> pl.Expr:
    return pl.col("kind").is_in([kind.value for kind in kinds])


def _of(column: str, *kinds: PieceKind) -> pl.Expr:
    return pl.when(_is(*kinds)).then(column)


def _titles() -> pl.Expr:
    word = pl.col("word")
    kind = pl.concat_str(word.str.slice(0, 1).str.to_uppercase(), word.str.slice(1))
    stated = pl.when(pl.col("title") != "").then("title")
    return pl.coalesce(
        pl.when(_is(PieceKind.SECTION)).then(stated),
        pl.when(_is(PieceKind.CALLOUT)).then(pl.coalesce(stated, kind)),
        pl.when(_is(PieceKind.LIST)).then(pl.coalesce("heading", "note_title")),
        pl.when(_is(PieceKind.TASK) & (pl.col("text") != "")).then("text"),
        pl.when(_is(PieceKind.ROW)).then("key_cell"),
        "id",
    )


def _symbol_parts() -> tuple[pl.Expr, pl.Expr]:
    """The name and the signature of a symbol's heading: what stands before a bracket or an arrow, and the rest."""
    title = pl.when("is_symbol").then(pl.col("title").str.strip_chars())
    signature = title.str.extract(r"(\(.*|→.*)", 1)
    return title.str.extract(r"^([^(→]*)", 1).str.strip_chars(), signature


def _rendered(template: str) -> pl.Expr:
    """The template with its placeholders filled in, each where it stands first; what a node lacks is empty."""
    values = {
        "title": pl.col("note_title"),
        "section_title": pl.col("heading"),
        "heading_path": pl.col("headings").list.join(" > "),
        "text": pl.col("text"),
        "id": pl.col("id"),
    }
    parts = _PLACEHOLDER.split(template)  # texts and names of placeholders in turn
    filled: list[pl.Expr] = []
    for at, part in enumerate(parts):
        # Once each: a text that is repeated a hundred times would cost a hundred times its size.
        is_first = at % 2 == 1 and parts.index(part, 1) == at
        filled.append(values[part].fill_null("") if is_first else pl.lit(f"{{{part}}}" if at % 2 else part))
    return pl.concat_str(filled)


def _key_cells(pieces: Pieces, columns: pl.DataFrame, profile: Profile) -> pl.Series:
    """What each row of a table shows in its rule's key column, null where there is nothing."""
    tables = (profile.reading.structure or Structure()).tables
    wanted = {at: fold_text(rule.key_column.strip()) for at, rule in enumerate(tables) if rule.key_column}
    keys = pieces.rows.select(
        node="node", column=pl.col("rule").replace_strict(wanted, default=None, return_dtype=pl.String)
    )
    shown = pl.col("text")
    for pattern, kept in _SHOWN:
        shown = shown.str.replace_all(pattern, kept)
    texts = columns.select("node", column=fold(columns["column"]), key_cell=shown.str.strip_chars())
    texts = texts.filter(pl.col("key_cell") != "")
    texts = texts.unique(["node", "column"], keep="first", maintain_order=True)
    return keys.join(texts, on=["node", "column"], how="left", maintain_order="left")["key_cell"]


def _inherited(pieces: Pieces, properties: pl.DataFrame, columns: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """The rows of the notes' properties ``keys`` again, for each piece; a column of the piece's own goes before.

    A value of more than MOST_INHERITED characters or items stays with the note: every part would repeat it.
    """
    asked = [key for key in keys if key not in OWN and key not in OF_NOTES]
    stated = properties.filter(pl.col("key").is_in(asked))
    if not stated.height:
        return columns.select(_LONG).clear()
    size = pl.col("text").str.len_chars().fill_null(0).sum() + pl.len()
    stated = stated.filter(size.over("file", "key") <= MOST_INHERITED)
    rows = pieces.rows.select("file", "node").join(stated, on="file", how="inner", maintain_order="left_right")
    return rows.select(_LONG).join(columns.select("node", "key"), on=["node", "key"], how="anti", maintain_order="left")


def _as_long(series: pl.Series, key: str, first: int) -> pl.DataFrame:
    """A column of ours as long rows."""
    rows = pl.DataFrame({"node": pl.int_range(len(series), eager=True) + first, "value": series})
    ordinal, kind, number, text = pl.lit(-1, pl.Int32), ValueKind.TEXT, pl.lit(None, pl.Int64), pl.lit(None, pl.String)
    if isinstance(series.dtype, pl.List):
        rows = rows.explode("value", empty_as_null=True)
        ordinal = pl.int_range(pl.len(), dtype=pl.Int32).over("node")
    if series.dtype == pl.Int64():
        kind, number = ValueKind.INTEGER, pl.col("value")
    elif series.dtype == pl.Boolean():
        kind, number = ValueKind.BOOLEAN, pl.col("value").cast(pl.Int64)
    else:
        text = pl.col("value")
    return rows.drop_nulls("value").select(
        "node",
        pl.lit(key).alias("key"),
        ordinal.alias("ordinal"),
        pl.lit(kind.value, pl.UInt8).alias("kind"),
        number.alias("number"),
        pl.lit(None, pl.Float64).alias("real"),
        text.alias("text"),
        pl.lit(None, pl.Int32).alias("line"),
    )


def _segments(series: pl.Series, groups: tuple[NodeGroup, ...], first: int) -> list[Segment]:
    """``series`` over the labels that have a value of it; neighbours share a segment."""
    filled = np.concatenate([[0], np.cumsum(series.is_not_null().to_numpy())])
    segments: list[tuple[int, int]] = []
    for group in groups:  # row loop: one step a label
        start, stop = group.first - first, group.stop - first
        if filled[stop] == filled[start]:
            continue
        if segments and segments[-1][1] == start:
            start = segments.pop()[0]
        segments.append((start, stop))
    return [Segment(first + start, series.slice(start, stop - start)) for start, stop in segments]
