"""Folders and folder notes: Folder nodes, CONTAINS, and the relationship between a folder note and its children.

A folder is in the graph when a note lies in it or below it. A folder note (`X.md` beside `X/`, or `X/X.md`) takes its
folder's place, so such a folder has no node of its own. Ends of relationships are given as keys; nodes.py numbers them.
"""

from dataclasses import dataclass
from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.names import fold, last_part, parent

CONTAINS: Final = "CONTAINS"


@dataclass(frozen=True, slots=True)
class Folders:
    """``bare``: path of every folder without a folder note, sorted.

    ``held``: what lies directly in a folder, one row a member: (folder_note Int64 file row or null, folder String path
    where there is no folder note, note Int64 file row or null, subfolder String path where the member is a folder).
    ``beaten``: path of each second folder note, with the path of the one that won.
    ``count``: folders with a folder note.
    """

    bare: pl.Series
    held: pl.DataFrame
    beaten: pl.DataFrame
    count: int


def folders_of(catalogue: Catalogue) -> Folders:
    """The folders above the notes of the catalogue and what they hold."""
    notes = catalogue.notes.select("path", "folder", "name_key").with_row_index("file")
    notes = notes.with_columns(pl.col("file").cast(pl.Int64))
    owned = _with_folder_notes(_above(notes["folder"]), notes)
    owners = owned.select(container="folder", owner="folder_note")
    inside = notes.join(owned.select("folder", own="folder_note"), on="folder", how="left").with_columns(
        # A folder note inside its folder belongs where the folder sits.
        container=pl.when(pl.col("own") == pl.col("file")).then(parent(notes["folder"])).otherwise("folder")
    )
    bare = owned.filter(pl.col("folder_note").is_null())["folder"].sort()
    members = pl.concat(
        [
            inside.select("container", note="file", subfolder=pl.lit(None, pl.String)),
            pl.DataFrame(
                {
                    "container": parent(bare),
                    "note": pl.Series([None], dtype=pl.Int64).extend_constant(None, len(bare)).tail(len(bare)),
                    "subfolder": bare,
                }
            ),
        ]
    )
    held = members.filter(pl.col("container") != "").join(owners, on="container", how="left")
    return Folders(
        bare=bare,
        held=held.select(
            folder_note="owner",
            folder=pl.when(pl.col("owner").is_null()).then("container"),
            note="note",
            subfolder="subfolder",
        ),
        beaten=owned.filter("is_double").select("path", "winner"),
        count=owned["folder_note"].drop_nulls().len(),
    )


def _above(folders: pl.Series) -> pl.Series:
    """Every folder of ``folders`` and every folder above one, distinct, without the root."""
    level = folders.unique()
    found = [level]
    # row loop: one step for each level of depth
    while (level != "").any():
        level = parent(level).unique()
        found.append(level)
    every = pl.concat(found).unique()
    return every.filter(every != "").alias("folder")


def _with_folder_notes(folders: pl.Series, notes: pl.DataFrame) -> pl.DataFrame:
    """(folder, folder_note, is_double, path, winner): the file row of the folder note, and the one it beat."""
    named = notes.select("name_key", "file", "path").sort("path").unique("name_key", keep="first", maintain_order=True)
    keys = fold(folders)
    table = pl.DataFrame({"folder": folders, "beside_key": keys}).with_columns(
        inside_key=pl.format("{}/{}", "beside_key", last_part(keys))
    )
    table = table.join(
        named.rename({"file": "beside", "path": "winner"}), left_on="beside_key", right_on="name_key", how="left"
    )
    table = table.join(named.rename({"file": "inside"}), left_on="inside_key", right_on="name_key", how="left")
    return table.select(
        "folder",
        folder_note=pl.coalesce("beside", "inside"),
        is_double=pl.col("beside").is_not_null() & pl.col("inside").is_not_null(),
        path="path",
        winner="winner",
    )
