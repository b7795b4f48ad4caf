"""The label ladder: which specific label each note gets.

`type:`, then the profile's default label, then the top folder's name; the profile can move the folder first. It reads
the long property rows and the catalogue; grouping nodes by label is nodes.py's.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import WIKILINK, first_part, last_part, parent, without_md
from vaultgraph.graph.texts import NONE, Texts, columns_of, order_by, rows_where, taken
from vaultgraph.note.alone import TEXTS, made_of
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

TYPE_KEY: Final = "type"


def specific_labels(properties: pl.DataFrame, catalogue: Catalogue, profile: Profile) -> pl.Series:
    """The specific label of each note of the catalogue, String, null for none.

    ``properties``: the long rows with a ``file`` column (row of the catalogue) in place of ``note``.
    """
    names = Texts()
    stated = _labels_from_type(properties, catalogue.note_count, names)
    folder = _top_folders(catalogue, names)
    default = np.full(catalogue.note_count, names.numbers(pl.Series([profile.default_label or None], dtype=pl.String)))
    order = [folder, stated, default] if profile.label_from == "folder" else [stated, default, folder]
    label = order[0]
    for rung in order[1:]:
        label = np.where(label >= 0, label, rung)
    note_label = names.numbers(pl.Series([profile.note_label]))
    return taken(names.distinct, np.where(label != note_label, label, NONE)).alias("label")


def _labels_from_type(properties: pl.DataFrame, note_count: int, names: Texts) -> Ids:
    """For each note the number of the first text of ``type:``; of a text with a wikilink, the basename of its target.

    -1 for a note without.
    """
    label_of = np.full(note_count, NONE, dtype=np.int64)
    is_type = (properties["key"] == TYPE_KEY) & (properties["kind"] == ValueKind.TEXT)
    rows = rows_where(columns_of(properties, "file", "ordinal", "text"), is_type.to_numpy())
    if not rows.height:
        return label_of
    written = Texts()
    at = written.numbers(rows["text"])
    text = made_of(written.distinct, TEXTS.str.strip_chars())
    target = without_md(last_part(made_of(text, TEXTS.str.extract(WIKILINK, 1).str.strip_chars())))
    named = pl.select(pl.coalesce(*(pl.when(part != "").then(part) for part in (target, text)))).to_series()
    labels = names.numbers(named)[at]
    file, ordinal = rows["file"].to_numpy(), rows["ordinal"].to_numpy().astype(np.int64)
    is_label = labels >= 0
    file, labels = file[is_label], labels[is_label]
    order = order_by(file, ordinal[is_label] + 1)
    first = order[np.flatnonzero(np.diff(file[order], prepend=NONE))]
    label_of[file[first]] = labels[first]
    return label_of


def _top_folders(catalogue: Catalogue, names: Texts) -> Ids:
    """The top folder of each note, -1 at the root; a note named as its folder counts where the folder sits."""
    folder = catalogue.folders
    top = pl.DataFrame({"own": first_part(folder), "above": first_part(parent(folder))})
    top = top.select(pl.when(pl.col(name) != "").then(name) for name in ("own", "above"))
    own, above = (names.numbers(top[name]) for name in ("own", "above"))
    place = catalogue.folder_of[: catalogue.note_count]
    is_named_as_folder = (taken(last_part(folder), place) == catalogue.notes["stem"]).to_numpy()
    return np.where(is_named_as_folder, above[place], own[place])
