"""The catalogue: every file a link may name, notes first, each with the keys it is found under.

Made once a build from the records and the stat pass; resolve.py looks names up in it, nodes.py gives its rows node ids.
A file row is a position in ``files``; it is neither a note's row in the records nor a node id.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from vaultgraph.files.stamps import Stamps
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import extension, fold, last_part
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile


@dataclass(frozen=True, slots=True)
class Catalogue:
    """``files``: one row a file, the notes of the graph sorted by path, then all other files sorted by path.

    Columns: path, folder, stem (name without ``.md`` for a note, whole name otherwise) String, key (folded path),
    name_key (folded path without ``.md``), is_note, is_canvas Boolean, rank UInt8 (0 a file found by its full name,
    2 a file without extension, which a note of the same name goes before), size_bytes Int64.

    ``note_count``: rows before it are notes. ``row_of_note``: ``int64[records.notes.height]``, the file row of each
    row of the records, -1 for a skipped note. ``aliases``: path, target (both spelled as on disk).
    """

    files: pl.DataFrame
    note_count: int
    row_of_note: Ids
    aliases: pl.DataFrame

    @property
    def notes(self) -> pl.DataFrame:
        """The rows that are notes."""
        return self.files.head(self.note_count)


def catalogue_of(records: RecordTable, stamps: Stamps, profile: Profile) -> Catalogue:
    """The files of a vault; skipped notes are left out, canvases are ordinary files while the profile has them off."""
    stated = records.notes.select("path", "size_bytes", "is_canvas", "is_skipped").with_row_index("note")
    kept = stated.filter(~pl.col("is_skipped") & ~pl.col("is_canvas"))
    canvases = stated.filter(pl.col("is_canvas")) if profile.canvas else stated.clear()
    others = _other_files(stamps, canvases)
    files = pl.concat(
        [
            kept.select("path", "size_bytes", "note", is_note=pl.lit(True), is_canvas=pl.lit(False)),
            others.select("path", "size_bytes", "note", is_note=pl.lit(False), is_canvas=pl.col("note").is_not_null()),
        ]
    )
    return Catalogue(
        files=_with_keys(files).drop("note"),
        note_count=kept.height,
        row_of_note=_rows_of_notes(files, records.notes.height),
        aliases=stamps.aliases.select("path", "target").sort("path"),
    )


def _other_files(stamps: Stamps, canvases: pl.DataFrame) -> pl.DataFrame:
    """Every file that is not a note: (path, size_bytes, note), note only for a canvas that was read."""
    stamped = stamps.files.filter(~pl.col("path").str.contains(r"(?i)\.md$")).select("path", "size_bytes")
    unstamped = canvases.select("path", "size_bytes").join(stamped, on="path", how="anti")
    return pl.concat([stamped, unstamped]).join(canvases.select("path", "note"), on="path", how="left").sort("path")


def _with_keys(files: pl.DataFrame) -> pl.DataFrame:
    is_note, path, name = pl.col("is_note"), pl.col("path"), pl.col("name")
    named = files.with_columns(key=fold(files["path"]), name=last_part(files["path"]))
    return named.select(
        "path",
        "size_bytes",
        "is_note",
        "is_canvas",
        "note",
        "key",
        folder=path.str.strip_suffix(name).str.strip_suffix("/"),
        stem=pl.when(is_note).then(name.str.head(-3)).otherwise("name"),
        name_key=pl.when(is_note).then(pl.col("key").str.head(-3)).otherwise("key"),
        rank=pl.when(is_note | extension(named["name"]).is_not_null()).then(0).otherwise(2).cast(pl.UInt8),
    )


def _rows_of_notes(files: pl.DataFrame, count: int) -> Ids:
    rows = np.full(count, -1, dtype=np.int64)
    stated = files["note"].is_not_null().to_numpy()
    rows[files["note"].drop_nulls().to_numpy()] = np.flatnonzero(stated)
    return rows
