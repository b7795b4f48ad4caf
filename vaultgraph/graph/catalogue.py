"""The catalogue: every file a link may name, notes first, each with the keys it is found under.

Made once a build from the records and the stat pass; resolve.py looks names up in it, nodes.py gives its rows node ids.
A file row is a position in ``files``; it is neither a note's row in the records nor a node id.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.files.stamps import Stamps
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import extension, fold, last_part
from vaultgraph.graph.texts import NONE, Texts, columns_of, rows_at, rows_where
from vaultgraph.note.alone import TEXTS, made_of, selected
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile

_KEYS: Final = ("folder", "stem", "key", "name_key", "end_key", "rank")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """``files``: one row a file, the notes of the graph sorted by path, then all other files sorted by path.

    Columns: path, folder, stem (name without ``.md`` for a note, whole name otherwise) String, key (folded path),
    name_key (folded path without ``.md``), end_key (last part of key), is_canvas Boolean, rank UInt8 (0 a file found by
    its full name, 2 a file without extension, which a note of the same name goes before), size_bytes Int64.

    ``note_count``: rows before it are notes. ``row_of_note``: ``int64[records.notes.height]``, the file row of each
    row of the records, -1 for a skipped note. ``aliases``: path, target (both spelled as on disk). ``folders``: the
    distinct folders of files; ``folder_of``: the row in it of each file.
    """

    files: pl.DataFrame
    note_count: int
    row_of_note: Ids
    aliases: pl.DataFrame
    folders: pl.Series
    folder_of: Ids

    @property
    def notes(self) -> pl.DataFrame:
        """The rows that are notes."""
        return self.files.head(self.note_count)


def catalogue_of(records: RecordTable, stamps: Stamps, profile: Profile) -> Catalogue:
    """The files of a vault; skipped notes are left out, canvases are ordinary files while the profile has them off."""
    stated = columns_of(records.listing, "path", "size_bytes")
    is_canvas, is_skipped = (records.listing[name].to_numpy() for name in ("is_canvas", "is_skipped"))
    kept = np.flatnonzero(~is_canvas & ~is_skipped)
    canvases = np.flatnonzero(is_canvas) if profile.canvas else kept[:0]
    others, canvas_of = _other_files(stamps, rows_at(stated, canvases))
    row_of_note = np.full(stated.height, NONE, dtype=np.int64)
    row_of_note[kept] = np.arange(len(kept))
    read = np.flatnonzero(canvas_of >= 0)
    row_of_note[canvases[canvas_of[read]]] = read + len(kept)
    notes = stated if len(kept) == stated.height else rows_at(stated, kept)
    files = pl.concat([notes, others], rechunk=True)
    is_canvas = np.zeros(files.height, dtype=np.bool_)
    is_canvas[read + len(kept)] = True
    files = pl.DataFrame([*files.iter_columns(), pl.Series("is_canvas", is_canvas), *_keys(files["path"], len(kept))])
    folders = Texts()
    folder_of = folders.numbers(files["folder"])
    aliases = columns_of(stamps.aliases, "path", "target")
    return Catalogue(
        files=files,
        note_count=len(kept),
        row_of_note=row_of_note,
        aliases=aliases.sort("path") if aliases.height else aliases,
        folders=folders.distinct,
        folder_of=folder_of,
    )


def _other_files(stamps: Stamps, canvases: pl.DataFrame) -> tuple[pl.DataFrame, Ids]:
    """Every file that is not a note: (path, size_bytes), sorted; and for each its row in ``canvases``, -1 for none."""
    is_other = ~made_of(stamps.files["path"], TEXTS.str.contains(r"(?i)\.md$")).to_numpy()
    stamped = rows_where(columns_of(stamps.files, "path", "size_bytes"), is_other)
    canvas_of = np.full(stamped.height, NONE, dtype=np.int64)
    if not canvases.height:
        return stamped, canvas_of
    texts = Texts()
    texts.numbers(stamped["path"])
    rows = texts.numbers(canvases["path"])
    is_stamped = rows < stamped.height
    canvas_of[rows[is_stamped]] = np.flatnonzero(is_stamped)
    if is_stamped.all():
        return stamped, canvas_of
    both = pl.concat([stamped, canvases[np.flatnonzero(~is_stamped)]], rechunk=True)
    order = both["path"].arg_sort().to_numpy()
    return both[order], np.append(canvas_of, np.flatnonzero(~is_stamped))[order]


def _keys(paths: pl.Series, note_count: int) -> list[pl.Series]:
    """Every column of ``Catalogue.files`` that is made of the path."""
    path, name, key, end = pl.col("path"), pl.col("name"), pl.col("key"), pl.col("end_key")
    keys = fold(paths)
    last = [last_part(paths).alias("name"), last_part(keys).alias("end_key")]
    ends = pl.DataFrame([paths.alias("path"), keys.alias("key"), *last])
    folder = path.str.strip_suffix(name).str.strip_suffix("/").alias("folder")
    shapes = [folder, name.str.head(-3).alias("stem"), key, key.str.head(-3).alias("name_key"), end]
    notes = columns_of(selected(ends.head(note_count), [*shapes, pl.lit(0, pl.UInt8).alias("rank")]), *_KEYS)
    if note_count == len(paths):
        return notes.get_columns()
    others = ends.tail(len(paths) - note_count)
    rank = pl.when(extension(others["name"]).is_not_null()).then(0).otherwise(2).cast(pl.UInt8)
    shapes = [folder, name.alias("stem"), key, key.alias("name_key"), end, rank.alias("rank")]
    others = columns_of(selected(others, shapes), *_KEYS)
    return pl.concat([notes, others], rechunk=True).get_columns()
