"""The label ladder: which specific label each note gets.

`type:`, then the profile's default label, then the top folder's name; the profile can move the folder first. It reads
the long property rows and the catalogue; grouping nodes by label is nodes.py's.
"""

from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.names import WIKILINK, first_part, last_part, parent, without_md
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

TYPE_KEY: Final = "type"


def specific_labels(properties: pl.DataFrame, catalogue: Catalogue, profile: Profile) -> pl.Series:
    """The specific label of each note of the catalogue, String, null for none.

    ``properties``: the long rows with a ``file`` column (row of the catalogue) in place of ``note``.
    """
    notes = catalogue.notes
    stated = notes.select("path").with_row_index("file").with_columns(pl.col("file").cast(pl.Int64))
    typed = _labels_from_type(properties)
    rows = stated.join(typed, on="file", how="left", maintain_order="left").with_columns(folder=_top_folders(notes))
    default = pl.lit(profile.default_label or None, pl.String)
    if profile.label_from == "folder":
        ladder = pl.coalesce("folder", "label", default)
    else:
        ladder = pl.coalesce("label", default, "folder")
    label = rows.select(pl.when(ladder != profile.note_label).then(ladder).alias("label"))
    return label["label"]


def _labels_from_type(properties: pl.DataFrame) -> pl.DataFrame:
    """(file, label): the first text of ``type:``; of a text with a wikilink, the basename of its target."""
    texts = (
        properties.filter((pl.col("key") == TYPE_KEY) & (pl.col("kind") == ValueKind.TEXT))
        .select("file", "ordinal", text=pl.col("text").str.strip_chars())
        .filter(pl.col("text") != "")
        .sort("file", "ordinal")
        .unique("file", keep="first", maintain_order=True)
    )
    target = texts["text"].str.extract(WIKILINK, 1).str.strip_chars()
    named = texts.select("file", "text").with_columns(target=without_md(last_part(target)))
    label = pl.when(pl.col("target").fill_null("") != "").then("target").otherwise("text")
    return named.select("file", label=label)


def _top_folders(notes: pl.DataFrame) -> pl.Series:
    """The top folder of each note, null at the root; a note named as its folder counts where the folder sits."""
    folder, stem = notes["folder"], notes["stem"]
    named_as_folder = last_part(folder) == stem
    place = pl.select(pl.when(named_as_folder & (folder != "")).then(parent(folder)).otherwise(folder)).to_series()
    top = first_part(place)
    return pl.select(pl.when(top != "").then(top).alias("folder")).to_series()
