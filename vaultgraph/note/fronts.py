"""Where frontmatter ends and the body begins, of many notes at once.

First step of reading a batch. Nearly every note begins its frontmatter, if it has any, in one way, which columns tell;
whatever else may be one is left to `frontmatter.front_of`.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, kept, made_of, selected
from vaultgraph.note.frontmatter import front_of
from vaultgraph.note.lines import IntArray, at_rows

_FEW: Final = 50  # notes, which take less time one by one
BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Fronts:
    """Of each note: ``sources`` String, the YAML text with LF as line ends, "" where there is none; ``starts``
    int64, the byte at which the body starts; ``lines`` int64, how many there are before it."""

    sources: pl.Series
    starts: IntArray
    lines: IntArray


def fronts_of(notes: pl.Series) -> Fronts:
    """The frontmatter of ``notes``, Binary, all of them UTF-8."""
    if len(notes) < _FEW:
        return _read_singly(notes)
    opened = selected(notes.to_frame("data"), [_MAY_BE_OPENED])["data"]
    rows = np.flatnonzero(opened.to_numpy())
    found = selected(notes.filter(opened).to_frame("data"), [_BYTES, _END])
    found = selected(found, [_BYTES, pl.col("end"), _IS_PLAIN])
    quick = selected(kept(found, found["plain"]), [_SOURCE, pl.col("end")])
    singly = _read_singly(found["data"].filter(~found["plain"]))
    is_plain = found["plain"].to_numpy()
    order = np.append(rows[is_plain], rows[~is_plain])
    starts, lines = np.zeros(len(notes), dtype=np.int64), np.zeros(len(notes), dtype=np.int64)
    starts[order] = np.append(quick["end"].to_numpy() + len("\n---\n"), singly.starts)
    counts = made_of(quick["source"], _LINE_ENDS).to_numpy().astype(np.int64)
    lines[order] = np.append(counts + 2, singly.lines)
    place = np.full(len(notes), len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Fronts(at_rows(pl.concat([quick["source"], singly.sources, _NO_SOURCE]), place), starts, lines)


def _read_singly(notes: pl.Series) -> Fronts:
    found: list[tuple[str, int, int]] = []
    # row loop: notes that begin in another way, or are few
    for data in notes.to_list():
        mark = len(BOM) if data.startswith(BOM) else 0
        source, size, count = front_of(data[mark:])
        found.append((source, mark + size, count))
    columns = np.array([numbers for _, *numbers in found], dtype=np.int64).reshape(-1, 2)
    return Fronts(pl.Series("source", [text for text, *_ in found], dtype=pl.String), columns[:, 0], columns[:, 1])


_BYTES: Final = pl.col("data")
_LINE_ENDS: Final = TEXTS.str.count_matches("\n", literal=True)
_NO_SOURCE: Final = pl.Series("source", [""], dtype=pl.String)
_MAY_BE_OPENED: Final = _BYTES.bin.starts_with(b"---") | _BYTES.bin.starts_with(BOM)
_END: Final = _BYTES.cast(pl.String).str.find("\n---", literal=True).cast(pl.Int64).fill_null(3).alias("end")
_SOURCE: Final = _BYTES.bin.slice(4, pl.col("end") - 3).cast(pl.String).alias("source")
_IS_PLAIN: Final = (
    _BYTES.bin.starts_with(b"---\n") & (_BYTES.bin.slice(pl.col("end"), 5) == b"\n---\n") & ~_BYTES.bin.contains(b"\r")
).alias("plain")
