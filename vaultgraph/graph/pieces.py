"""Parts of notes as nodes: which pieces of the records there are in the graph, their labels, numbers and ids.

Only called where the records hold pieces. Nodes of pieces come after all others, grouped by label, so that a label is
one range; properties and relationships are made of them by the derived_* modules.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.heading_paths import paths_of_pieces
from vaultgraph.note.records import PieceKind, RecordTable
from vaultgraph.profile.settings import KeyFromHeading, Profile, Reading, Structure

MOST_ID: Final = 4096  # as long as a path can be
_KEPT: Final = (
    "line", "kind", "fragment", "ordinal", "level", "title", "text", "word", "fold", "block", "hash", "size", "rule",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of one generation.

    ``rows``: one a node, in node order: node Int64 id, file Int64 (row of its note in the catalogue), label, id String,
    piece Int64 (row in the records), owner Int64 (row here of the piece it hangs on, null for the note), section Int64
    (row here of the section around it, null for none), is_symbol Boolean (a section that a heading's key names),
    headings List(String) (titles of the headings around it, a section's own last, cut where they are long), and the
    records' columns.
    ``first``: id of the first node. ``groups``: one a label. ``row_of``: ``int64[records.pieces.height]``, the row in
    ``rows`` of each piece, -1 where it is no node. ``starts``: ``int64[records.notes.height]``, the first piece of each
    note. ``sections``: (file, title, headings, node Int64 or null) of every section piece, in order of the notes.
    """

    rows: pl.DataFrame
    first: int
    groups: tuple[NodeGroup, ...]
    row_of: Ids
    starts: Ids
    sections: pl.DataFrame

    def piece_of_cells(self, cells: pl.DataFrame) -> Ids:
        """The row in the records' pieces of each row of ``records.cells``."""
        return self.starts[cells["note"].to_numpy()] + cells["piece"].to_numpy()


def pieces_of(
    records: RecordTable, catalogue: Catalogue, labels: pl.Series, ids: pl.Series, first: int, profile: Profile
) -> Pieces:
    """Number the pieces of every note of the catalogue from ``first``.

    ``labels``, ``ids``: specific label and id of the notes, by file row, ids as ``ids_to_repeat`` gives them.
    """
    pieces = records.pieces
    notes = pieces["note"].to_numpy()
    starts = np.searchsorted(notes, np.arange(records.notes.height), side="left")
    files = catalogue.row_of_note[notes]
    is_there = (files >= 0) & (files < catalogue.note_count)
    described = pieces.select(_KEPT).with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("piece"),
        file=pl.Series(files, dtype=pl.Int64),
        headings=paths_of_pieces(records, starts),
    )
    described = described.filter(pl.Series(is_there))
    described = described.with_columns(is_symbol=_is_symbol(described, labels, profile))
    chosen = described.with_columns(label=_labels(profile.reading)).filter(pl.col("label").is_not_null())
    chosen = chosen.sort("label", "piece")
    row_of = np.full(pieces.height, -1, dtype=np.int64)
    row_of[chosen["piece"].to_numpy()] = np.arange(chosen.height)
    before = starts[notes]
    owners, sections = (_nearest(_absolute(pieces[name], before), row_of) for name in ("parent", "section"))
    at = chosen["piece"].to_numpy()
    rows = chosen.with_columns(
        node=pl.int_range(pl.len(), dtype=pl.Int64) + first,
        id=ids.gather(chosen["file"]) + chosen["fragment"],
        owner=_or_null(owners[at]),
        section=_or_null(sections[at]),
    )
    sections_there = described.filter(pl.col("kind") == PieceKind.SECTION)
    numbers = row_of[sections_there["piece"].to_numpy()]
    return Pieces(
        rows=rows,
        first=first,
        groups=_groups(rows["label"], first),
        row_of=row_of,
        starts=starts,
        sections=sections_there.select(
            "file", "title", "headings", node=_or_null(np.where(numbers >= 0, numbers + first, -1))
        ),
    )


def ids_to_repeat(ids: pl.Series) -> pl.Series:
    """Ids of notes as their parts repeat them: one of more than MOST_ID characters is cut."""
    return ids.str.slice(0, MOST_ID)


def relations_of(records: RecordTable, catalogue: Catalogue) -> pl.DataFrame:
    """The pieces that are relationships, in order: file, piece (row in the records) Int64, rule, size Int32, nth Int64
    (from 0 in its note)."""
    pieces = records.pieces.select("note", "kind", "rule", "size").with_row_index("piece")
    found = pieces.filter(pl.col("kind") == PieceKind.EDGE)
    files = pl.Series(catalogue.row_of_note[found["note"].to_numpy()], dtype=pl.Int64)
    found = found.with_columns(pl.col("piece").cast(pl.Int64), file=files).filter(files >= 0)
    return found.select("file", "piece", "rule", "size", nth=pl.int_range(pl.len(), dtype=pl.Int64).over("file"))


def label_of_kinds(reading: Reading) -> dict[PieceKind, str]:
    """The label that a profile gives each kind of piece; rows of tables have their rule's, symbols one of theirs."""
    structure, tasks = reading.structure or Structure(), reading.tasks
    lists = structure.ordered_lists
    named = {
        PieceKind.SECTION: structure.sections and structure.sections.label,
        PieceKind.CHUNK: structure.chunks and structure.chunks.label,
        PieceKind.CALLOUT: structure.callouts and structure.callouts.label,
        PieceKind.FENCE: structure.code_fences and structure.code_fences.label,
        PieceKind.LIST: lists and lists.container,
        PieceKind.STEP: lists and lists.label,
        PieceKind.TASK: tasks and tasks.label,
    }
    return {kind: label for kind, label in named.items() if label}


def _labels(reading: Reading) -> pl.Expr:
    """The label of described pieces, null where the profile makes no node of them."""
    structure = reading.structure or Structure()
    named = {kind.value: label for kind, label in label_of_kinds(reading).items()}
    plain = pl.col("kind").replace_strict(named, default=None, return_dtype=pl.String)
    rules = {at: rule.label for at, rule in enumerate(structure.tables) if rule.label and not rule.edges}
    tabled = pl.col("rule").replace_strict(rules, default=None, return_dtype=pl.String)
    symbol = structure.key_from_heading.label if structure.key_from_heading else None
    return (
        pl.when("is_symbol")
        .then(pl.lit(symbol, pl.String))
        .when(pl.col("kind") == PieceKind.ROW)
        .then(tabled)
        .otherwise(plain)
    )


def _is_symbol(described: pl.DataFrame, labels: pl.Series, profile: Profile) -> pl.Series:
    structure = profile.reading.structure
    rule = structure.key_from_heading if structure else None
    if rule is None:
        return pl.repeat(False, described.height, eager=True)
    is_meant = (labels.gather(described["file"]) == rule.under_label) & (described["kind"] == PieceKind.SECTION)
    titles = described["title"]
    return (is_meant & titles.is_in(_symbols(titles.unique(), rule).implode())).fill_null(False)


def _symbols(titles: pl.Series, rule: KeyFromHeading) -> pl.Series:
    """Those of ``titles`` that name a symbol. A pattern that the engine refuses matches nothing."""
    matches = titles.str.contains(rule.when_matches, strict=False).fill_null(False)
    return titles.filter(matches & titles.str.contains(r"[.(]").fill_null(False))


def _absolute(positions: pl.Series, before: Ids) -> Ids:
    """Rows of the records' pieces for positions within a note; -1 stays."""
    relative = positions.to_numpy().astype(np.int64)
    return np.where(relative >= 0, relative + before, -1)


def _nearest(above: Ids, row_of: Ids) -> Ids:
    """For each piece the row in ``Pieces.rows`` of the nearest node above it, -1 for none.

    ``above``: the piece each one hangs on, before it, or -1. Steps double, so a long chain takes few of them.
    """
    nothing = len(above)
    above = np.where(above < np.arange(nothing), above, -1)
    step = np.append(np.where(row_of >= 0, np.arange(nothing), np.where(above >= 0, above, nothing)), nothing)
    # row loop: one step for each doubling of the depth of nesting
    while not np.array_equal(further := step[step], step):
        step = further
    found = step[np.where(above >= 0, above, nothing)]
    return np.where(found < nothing, np.append(row_of, -1)[found], -1)


def _or_null(numbers: npt.NDArray[np.int64]) -> pl.Series:
    values = pl.Series(numbers, dtype=pl.Int64)
    return pl.select(pl.when(values >= 0).then(values)).to_series()


def _groups(labels: pl.Series, first: int) -> tuple[NodeGroup, ...]:
    groups: list[NodeGroup] = []
    # row loop: one step a label
    for length, label in labels.rle().struct.unnest().select("len", "value").iter_rows():
        groups.append(NodeGroup((label,), first, first + length))
        first += length
    return tuple(groups)
