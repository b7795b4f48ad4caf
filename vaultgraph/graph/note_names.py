"""Notes by what people call them: path, stem, id, title or alias.

Looks through the columns of one graph; used where a caller names a note instead of a path.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Column, gather
from vaultgraph.graph.graph import Graph

NEAREST: Final = 3


def notes_named(graph: Graph, name: str) -> list[str]:
    """The paths of all notes called ``name`` in any case, sorted: the best kind of match only.

    Kinds, best first: path with or without `.md`, stem, id, title, alias.
    """
    wanted = name.strip().casefold()
    if not wanted.isascii() and any("\ud800" <= char <= "\udfff" for char in wanted):
        return []  # half of a character: no text of a note holds one
    paths = _strings(graph.node_columns.get("path"), graph, with_lists=False)
    suffixed = _ids(paths, wanted.removesuffix(".md") + ".md")
    if suffixed:
        return _notes_only(paths, suffixed)
    for key in ("stem", "id", "title", "aliases"):
        found = _notes_only(paths, _ids(_strings(graph.node_columns.get(key), graph), wanted))
        if found:
            return found
    return []


def is_path(graph: Graph, text: str) -> bool:
    """Whether a node, of a note or of another file, has exactly this path."""
    every = np.arange(graph.node_count, dtype=np.int64)
    paths = (part.series for part in gather(graph.node_columns.get("path"), every))
    return any(text in series for series in paths if series.dtype == pl.String)


def _strings(column: Column | None, graph: Graph, *, with_lists: bool = True) -> pl.DataFrame:
    """(id, text) of every text cell and, ``with_lists``, of every item of a list of texts."""
    parts = [pl.DataFrame(schema={"id": pl.Int64, "text": pl.String})]
    for part in gather(column, np.arange(graph.node_count, dtype=np.int64)):
        rows = np.arange(len(part.series), dtype=np.int64) if part.rows is None else part.rows
        frame = pl.DataFrame({"id": rows, "text": part.series.alias("text")})
        if with_lists and part.series.dtype == pl.List(pl.String):
            parts.append(frame.explode("text"))
        elif part.series.dtype == pl.String:
            parts.append(frame)
    return pl.concat(parts).drop_nulls()


def _ids(cells: pl.DataFrame, folded: str) -> set[int]:
    # Length rules most of them out before the full case folding, which only Python has.
    lowered = cells.filter(pl.col("text").str.len_bytes() <= 4 * len(folded.encode()) + 4)
    return {node for node, text in lowered.iter_rows() if text.casefold() == folded}


def _notes_only(paths: pl.DataFrame, ids: set[int]) -> list[str]:
    chosen = paths.filter(pl.col("id").is_in(list(ids)) & pl.col("text").str.to_lowercase().str.ends_with(".md"))
    return sorted(chosen["text"].to_list())


def notes_like(graph: Graph, name: str) -> list[str]:
    """The paths of up to NEAREST notes that are called nearly ``name``, the most like first."""
    known = _names(graph)
    from difflib import get_close_matches  # noqa: PLC0415 -- seldom needed

    close = get_close_matches(name.casefold().removesuffix(".md"), list(known), n=NEAREST, cutoff=0.7)
    return list(dict.fromkeys(path for key in close for path in known[key]))[:NEAREST]


def _names(graph: Graph) -> dict[str, list[str]]:
    """Every stem, id, title and alias of a note, folded, with the paths of the notes called so."""
    paths = _strings(graph.node_columns.get("path"), graph, with_lists=False)
    notes = paths.filter(pl.col("text").str.to_lowercase().str.ends_with(".md"))
    by_id = dict(notes.select("id", "text").iter_rows())
    names: dict[str, list[str]] = {}
    for key in ("stem", "id", "title", "aliases"):
        for node, text in _strings(graph.node_columns.get(key), graph).iter_rows():
            if node in by_id:
                names.setdefault(text.casefold(), []).append(by_id[node])
    return names
