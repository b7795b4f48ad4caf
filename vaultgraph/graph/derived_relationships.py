"""Relationships of the parts of notes: what holds them, what follows what, and tables read as relationships.

Gives families of rows for relationships.py. Links of bodies and frontmatter stay with links.py; the links of tables are
taken out of them here, because each row is a relationship of its own with properties of its own.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Segment
from vaultgraph.graph.derived_properties import typed_cells
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.links import PIECE, LinkRows
from vaultgraph.graph.pieces import Pieces
from vaultgraph.graph.properties import property_segments
from vaultgraph.note.records import LinkSyntax, PieceKind, RecordTable
from vaultgraph.profile.settings import Profile, Reading, Sections, Structure

CARRIED: Final = ("section", "anchor", "display", "line", "via", "ambiguous", "row")
"""Properties of ours that the relationship of a table's row has."""
TAKEN: Final = (*CARRIED, "source", "target", "type", "property", "count", "width", "height", "alt", "ordinal")
"""Names that a relationship may have from elsewhere; a column of the name is kept as ``column.<name>``."""
_VIA: Final = {1: "alias", 2: "title", 3: "slug"}


def held_pieces(pieces: Pieces, of_file: pl.Series, reading: Reading) -> list[pl.DataFrame]:
    """Every relationship between pieces and from their notes: source, target, type.

    ``of_file``: node id by file row. Pieces hang on the nearest node above them.
    """
    structure = reading.structure or Structure()
    # Symbols are sections even where the others are no nodes.
    sections = structure.sections or Sections()
    rows = pieces.rows.select(
        "node",
        "kind",
        "piece",
        "section",
        holder=pl.coalesce(pieces.rows["owner"] + pieces.first, of_file.gather(pieces.rows["file"])),
        type=_holding_types(pieces.rows, reading),
    )
    held = rows.select("type", source="holder", target="node")
    below = rows.filter((pl.col("kind") == PieceKind.SECTION) & pl.col("section").is_not_null())
    upward = below.select(pl.lit(sections.parent).alias("type"), source="node", target=pl.col("section") + pieces.first)
    following: dict[int, str] = {PieceKind.SECTION.value: sections.next}
    if structure.chunks:
        following[PieceKind.CHUNK.value] = structure.chunks.next
    if structure.ordered_lists:
        following[PieceKind.STEP.value] = structure.ordered_lists.next
    series = rows.sort("kind", "holder", "piece").with_columns(after=pl.col("node").shift(-1).over("kind", "holder"))
    next_type = pl.col("kind").replace_strict(following, default=None, return_dtype=pl.String)
    onward = series.select(next_type.alias("type"), source="node", target="after").drop_nulls()
    return [held, upward, onward]


def _holding_types(rows: pl.DataFrame, reading: Reading) -> pl.Series:
    """The type of the relationship to each node."""
    structure, tasks = reading.structure or Structure(), reading.tasks
    types: dict[int, str] = {PieceKind.SECTION.value: (structure.sections or Sections()).edge}
    named = {
        PieceKind.CHUNK: structure.chunks and structure.chunks.edge,
        PieceKind.CALLOUT: structure.callouts and structure.callouts.edge,
        PieceKind.FENCE: structure.code_fences and structure.code_fences.edge,
        PieceKind.LIST: structure.ordered_lists and structure.ordered_lists.container_type,
        PieceKind.STEP: structure.ordered_lists and structure.ordered_lists.edge,
        PieceKind.TASK: tasks and tasks.edge,
    }
    types |= {kind.value: name for kind, name in named.items() if name}
    rules = {at: rule.edge for at, rule in enumerate(structure.tables)}
    return rows.select(
        pl.when(pl.col("kind") == PieceKind.ROW)
        .then(pl.col("rule").replace_strict(rules, default=None, return_dtype=pl.String))
        .otherwise(pl.col("kind").replace_strict(types, default=None, return_dtype=pl.String))
        .alias("type")
    )["type"]


def with_pieces(links: pl.DataFrame, relations: pl.DataFrame) -> pl.DataFrame:
    """Record rows of links (with ``file``) with ``piece``: the piece of a TABLE link, null for others.

    ``relations``: as ``relations_of`` gives them; the n-th TABLE link of a note is of the n-th of them.
    """
    nth = pl.int_range(pl.len(), dtype=pl.Int64).over("file", "syntax")
    rows = links.with_columns(nth=pl.when(pl.col("syntax") == LinkSyntax.TABLE).then(nth))
    known = relations.select("file", "nth", "piece")
    return rows.join(known, on=["file", "nth"], how="left", maintain_order="left").drop("nth")


def without_tables(links: LinkRows) -> LinkRows:
    """The links that are written as links."""
    is_other = pl.col("syntax") != LinkSyntax.TABLE
    return LinkRows(links.rows.filter(is_other), links.elsewhere.filter(is_other))


def as_written(links: LinkRows) -> LinkRows:
    """The links without those of tables that are a wikilink in the body too, so that a report counts each once."""
    keys = ["file", "line", "destination", "target", "key", "anchor"]
    is_table = pl.col("syntax") == LinkSyntax.TABLE
    tabled = links.rows.filter(is_table)
    double = tabled.join(links.rows.filter(~is_table), on=keys, how="semi", nulls_equal=True)["order"]
    is_kept = ~pl.col("order").is_in(double.implode())
    return LinkRows(links.rows.filter(is_kept), links.elsewhere.filter(is_kept))


def table_relationships(
    numbered: pl.DataFrame, relations: pl.DataFrame, pieces: Pieces, records: RecordTable, profile: Profile
) -> tuple[list[pl.DataFrame], pl.DataFrame]:
    """A family for each type of the relationships that rows of tables make; and the cells that are not what `types:`
    declares under the type, as coerced() says, with ``file``.

    ``numbered``: link rows with node ids, as ``numbered_links`` gives them, with ``piece``. Each row is a relationship.
    """
    rows = numbered.filter((pl.col("syntax") == LinkSyntax.TABLE) & pl.col(PIECE).is_not_null()).sort("type", PIECE)
    about = rows.select(PIECE).join(relations, on=PIECE, how="left", maintain_order="left")
    at = np.full(records.pieces.height, -1, dtype=np.int64)
    at[rows[PIECE].to_numpy()] = np.arange(rows.height)
    place = pl.Series(at[pieces.piece_of_cells(records.cells)], dtype=pl.Int64)
    cells = records.cells.select("key", "text", "line").with_columns(file=place).filter(place >= 0)
    long, refused = typed_cells(cells, rows["type"], TAKEN, profile)
    own = rows.select(
        "source",
        "target",
        "type",
        "section",
        "anchor",
        "display",
        pl.col("line").cast(pl.Int64),
        via=pl.col("via").replace_strict(_VIA, default=None, return_dtype=pl.String),
        ambiguous=pl.when("is_ambiguous").then(True),
        row=about["size"].cast(pl.Int64),
    )
    groups = _groups(own["type"])
    segments = property_segments(long.with_columns(node="file"), groups)
    refused = refused.with_columns(file=about["file"].gather(refused["file"]))
    return [_family(own, group, segments) for group in groups], refused


def _groups(types: pl.Series) -> tuple[NodeGroup, ...]:
    groups: list[NodeGroup] = []
    first = 0
    for length in types.rle().struct.field("len").to_list():  # row loop: one step a type
        groups.append(NodeGroup((), first, first + length))
        first += length
    return tuple(groups)


def _family(own: pl.DataFrame, group: NodeGroup, segments: dict[str, list[Segment]]) -> pl.DataFrame:
    """The rows of one type, with its columns whole."""
    columns = [own.slice(group.first, group.stop - group.first)]
    for key, parts in segments.items():  # row loop: one step a column of the tables
        inside = [part for part in parts if part.first < group.stop and part.stop > group.first]
        if inside:
            columns.append(pl.DataFrame([_whole(inside, group).alias(key)]))
    return pl.concat(columns, how="horizontal")


def _whole(parts: list[Segment], group: NodeGroup) -> pl.Series:
    """The cells of ``group`` from segments of one type, null where there is none."""
    blank = pl.Series([None], dtype=parts[0].series.dtype)
    found: list[pl.Series] = []
    stop = group.first
    for part in parts:  # row loop: one step a segment
        first, last = max(part.first, group.first), min(part.stop, group.stop)
        found.append(blank.new_from_index(0, first - stop))
        found.append(part.series.slice(first - part.first, last - first))
        stop = last
    found.append(blank.new_from_index(0, group.stop - stop))
    return pl.concat([piece.alias("") for piece in found])
