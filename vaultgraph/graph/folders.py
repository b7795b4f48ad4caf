"""Folders and folder notes: Folder nodes, CONTAINS, and the relationship between a folder note and its children.

A folder is in the graph when a note lies in it or below it. A folder note (`X.md` beside `X/`, or `X/X.md`) takes its
folder's place, so such a folder has no node of its own. Ends of relationships are given as keys; nodes.py numbers them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import fold, last_part, parent
from vaultgraph.graph.texts import NONE, Texts, first_of, or_null, rows_of, taken
from vaultgraph.note.alone import TEXTS, made_of

CONTAINS: Final = "CONTAINS"


@dataclass(frozen=True, slots=True)
class Folders:
    """``bare``: path of every folder without a folder note, sorted.

    ``held``: what lies directly in a folder, one row a member, all Int64: (folder_note file row, or null where there is
    none and folder is the row in ``bare``; note file row, or null where the member is a folder, subfolder the row in
    ``bare``).
    ``beaten``: path of each second folder note, with the path of the one that won.
    ``count``: folders with a folder note.
    """

    bare: pl.Series
    held: pl.DataFrame
    beaten: pl.DataFrame
    count: int


def folders_of(catalogue: Catalogue) -> Folders:
    """The folders above the notes of the catalogue and what they hold."""
    paths, above = _above(catalogue)
    is_folder = above >= 0
    note_of, second = (np.where(is_folder, notes, NONE) for notes in _folder_notes(paths, catalogue))
    bare = np.flatnonzero(is_folder & (note_of < 0))
    bare = bare[paths[rows_of(bare)].arg_sort().to_numpy()]
    number = np.full(len(paths), NONE, dtype=np.int64)
    number[bare] = np.arange(len(bare))
    notes = np.arange(catalogue.note_count)
    # A folder note inside its folder belongs where the folder sits.
    place = catalogue.folder_of[: catalogue.note_count]
    container = np.concatenate([np.where(note_of[place] == notes, above[place], place), above[bare]])
    note = np.concatenate([notes, np.full(len(bare), NONE)])
    subfolder = np.concatenate([np.full(len(notes), NONE), np.arange(len(bare))])
    is_held = (container >= 0) & is_folder[container]
    owner = note_of[container[is_held]]
    held = {
        "folder_note": owner,
        "folder": np.where(owner < 0, number[container[is_held]], NONE),
        "note": note[is_held],
        "subfolder": subfolder[is_held],
    }
    beaten = np.flatnonzero(second >= 0)
    return Folders(
        bare=taken(paths, bare).alias("folder"),
        held=pl.DataFrame([or_null(rows).alias(name) for name, rows in held.items()]),
        beaten=pl.DataFrame(
            {
                "path": taken(catalogue.files["path"], second[beaten]),
                "winner": taken(catalogue.files["path"], note_of[beaten]),
            }
        ),
        count=int((note_of >= 0).sum()),
    )


def _above(catalogue: Catalogue) -> tuple[pl.Series, Ids]:
    """The catalogue's folders, as it numbers them, and every folder above one; and of each the number of the one above.

    The root is above itself there, and has -1. So has a folder without notes in or below it.
    """
    texts = Texts()
    texts.numbers(catalogue.folders)
    used = np.zeros(len(catalogue.folders), dtype=np.bool_)
    used[catalogue.folder_of[: catalogue.note_count]] = True
    above = np.full(len(used), NONE, dtype=np.int64)
    level = np.flatnonzero(used & (catalogue.folders != "").to_numpy())
    # row loop: one step for each level of depth
    while len(level):
        found = texts.numbers(parent(texts.distinct[rows_of(level)]))
        above = np.append(above, np.full(len(texts) - len(above), NONE))
        above[level] = found
        parents = np.unique(found)
        level = parents[(above[parents] < 0) & (texts.distinct[rows_of(parents)] != "").to_numpy()]
    return texts.distinct, above


def _folder_notes(paths: pl.Series, catalogue: Catalogue) -> tuple[Ids, Ids]:
    """The file row of each folder's note, and of a second one, which lies inside; -1 for none."""
    keys = fold(paths)
    inside_keys = keys + "/" + last_part(keys)
    texts = Texts()
    beside, inside = texts.numbers(keys), texts.numbers(inside_keys)
    count = len(texts)
    names = catalogue.notes["name_key"]
    rows = made_of(names, TEXTS.is_in(texts.distinct.implode()).arg_true())
    number, rows = texts.numbers(names[rows]), rows.to_numpy().astype(np.int64)
    first = first_of(number, rows, count)  # the first by path
    file = np.append(rows, NONE)[first]
    beside, inside = file[beside], file[inside]
    return np.where(beside >= 0, beside, inside), np.where(beside >= 0, inside, NONE)
