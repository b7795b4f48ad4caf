"""Whether the pieces and cells of a .kgl file fit together: the positions in them are followed when a graph is built.

A check of store.py after reading; it looks at nothing that the records of reading could not get wrong.
"""

import numpy as np
import polars as pl

from vaultgraph.note.records import LinkSyntax, PieceKind


def pieces_fault(pieces: pl.DataFrame, cells: pl.DataFrame, links: pl.DataFrame, note_count: int) -> str | None:
    """What is wrong with the pieces and cells of a vault, with the links of its tables, None where nothing is.

    Their ``note`` columns must be sorted and in range, their codes known and their positions not null.
    """
    notes = pieces["note"].to_numpy()
    starts = np.searchsorted(notes, np.arange(note_count + 1), side="left")
    sizes = np.diff(starts)
    position = np.arange(len(notes)) - starts[notes]
    kinds = pieces["kind"].to_numpy()
    for name in ("parent", "section"):
        above = pieces[name].to_numpy()
        if bool(((above < -1) | (above >= position)).any()):
            return f"a piece has a {name} that is not before it"
    around = pieces["section"].to_numpy()
    inside = around >= 0
    if bool((kinds[(starts[notes] + around)[inside]] != PieceKind.SECTION).any()):
        return "a piece lies in something that is no section"
    levels = pieces.filter(pl.col("kind") == PieceKind.SECTION)["level"]
    if not levels.fill_null(0).is_between(1, 6).all():
        return "a section has no level"
    tabled = np.isin(kinds, [PieceKind.ROW, PieceKind.EDGE])
    if not pieces.filter(pl.Series(tabled))["rule"].fill_null(-1).ge(0).all():
        return "a row of a table has no rule"
    owners, rows = cells["note"].to_numpy(), cells["piece"].to_numpy()
    if bool(((rows < 0) | (rows >= sizes[owners])).any()) or not bool(tabled[starts[owners] + rows].all()):
        return "a cell belongs to no row"
    tables = links.filter(pl.col("syntax") == LinkSyntax.TABLE)["note"].to_numpy()
    if not np.array_equal(tables, notes[kinds == PieceKind.EDGE]):
        return "the links of tables are not those of their rows"
    return None
