"""Frontmatter that needs no YAML parser: keys at the first column, with one-line scalars or lists of them.

A shortcut in front of `frontmatter.compose` that takes most notes: the grammar here is a part of YAML in which every
line means the same by itself (`flat_lines`) as in the whole. Anything else, however slightly, is refused and goes to
the parser. Any number of notes are read at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, made_of, selected
from vaultgraph.note.flat_lines import BAD, LineKind, LineReader
from vaultgraph.note.frontmatter import TEXT
from vaultgraph.note.lines import BoolArray, IntArray
from vaultgraph.note.values import Values

MOST_CHARS: Final = 20_000
_FEW: Final = 50  # sources, which take less time one by one
_NOT_FOLDED: Final = re.compile(rf"[{BAD}]")


@dataclass(frozen=True, slots=True)
class FlatRows:
    """The lines of flat frontmatter that state something, int64: ``source`` they are from, ``number`` in the table,
    number of the ``key`` stated, ``ordinal`` of their first value (-1: a scalar), 1-based ``line`` of the file on which
    the key is, and ``own_line``. ``is_flat``: bool[sources]; the YAML parser has to judge the others."""

    source: IntArray
    number: IntArray
    key: IntArray
    ordinal: IntArray
    line: IntArray
    own_line: IntArray
    is_flat: BoolArray


def read_flat(reader: LineReader, sources: pl.Series) -> FlatRows:
    """What the lines of ``sources`` state, whose line ends are LF."""
    texts, sizes, is_short = _few_lines(sources.to_list()) if len(sources) < _FEW else _lines(sources)
    numbers = reader.numbers_of(texts)
    _fold(reader, texts, numbers, np.cumsum(sizes))
    return _laid_out(reader, numbers, sizes, is_short)


def is_flat(source: str) -> bool:
    """Whether one frontmatter needs no YAML parser."""
    return bool(read_flat(LineReader(Values()), pl.Series([source], dtype=pl.String)).is_flat[0])


def _lines(sources: pl.Series) -> tuple[pl.Series, IntArray, BoolArray]:
    """The lines of all ``sources`` that are short, how many each has, and which are short."""
    frame = selected(pl.DataFrame([sources.alias("source")]), [_IS_SHORT, _LINES])
    is_short, lines = frame["short"], frame["lines"].filter(frame["short"])
    sizes = np.zeros(len(sources), dtype=np.int64)
    sizes[is_short.to_numpy()] = lines.list.len().to_numpy()
    return lines.explode(empty_as_null=False), sizes, is_short.to_numpy()


def _few_lines(sources: Sequence[str]) -> tuple[pl.Series, IntArray, BoolArray]:
    """The same for a few sources."""
    is_short = [source.endswith("\n") and len(source) <= MOST_CHARS for source in sources]
    split = [source[:-1].split("\n") if is_so else [] for source, is_so in zip(sources, is_short, strict=True)]
    sizes = np.array([len(lines) for lines in split], dtype=np.int64)
    texts = pl.Series([line for lines in split for line in lines], dtype=pl.String)
    return texts, sizes, np.array(is_short, dtype=np.bool_)


_IS_INNER: Final = TEXTS.str.starts_with(" ")
_SOURCE: Final = pl.col("source").str
_IS_SHORT: Final = (_SOURCE.ends_with("\n") & (_SOURCE.len_chars() <= MOST_CHARS)).alias("short")
_LINES: Final = _SOURCE.strip_suffix("\n").str.split("\n").alias("lines")


def _fold(reader: LineReader, texts: pl.Series, numbers: IntArray, ends: IntArray) -> None:
    """Makes one text of the lines below a key that announces it: the key's line states it, the others nothing.

    ``ends``: the row after the last one of each source. A text that is more than plain lines one below the other stays.
    """
    keys = np.flatnonzero(np.array(reader.table.kinds, dtype=np.int64)[numbers] == LineKind.FOLDED)
    if not len(keys):
        return
    source = np.searchsorted(ends, keys, side="right")
    outer = np.append(np.flatnonzero(~made_of(texts, _IS_INNER).to_numpy()), len(texts))
    stops = np.minimum(outer[np.searchsorted(outer, keys + 1)], ends[source])
    blank = reader.table.add(LineKind.BLANK, -1, ())
    # row loop: texts that are folded over lines
    rows: list[tuple[int, int]] = list(zip(keys.tolist(), stops.tolist(), strict=True))
    for key, stop in rows:
        lines: list[str] = texts[key + 1 : stop].to_list()
        margin = " " * (len(lines[0]) - len(lines[0].lstrip(" "))) if lines else ""
        inner = [line[len(margin) :] for line in lines if line.startswith(margin)]
        text = " ".join(inner)
        is_plain = len(inner) == len(lines) and all(line[:1].strip(" \t") for line in inner)
        if is_plain and not _NOT_FOLDED.search(text):
            code = reader.values.code_of(TEXT, text)
            numbers[key] = reader.table.add(LineKind.SCALAR, reader.table.details[int(numbers[key])], (code,))
            numbers[key + 1 : stop] = blank


def _laid_out(reader: LineReader, numbers: IntArray, sizes: IntArray, is_short: BoolArray) -> FlatRows:
    """What the lines are to each other: items belong to the key without a value above them and share a margin, and
    no key is given twice."""
    kind = np.array(reader.table.kinds, dtype=np.int64)[numbers]
    detail = np.array(reader.table.details, dtype=np.int64)[numbers]
    source = np.repeat(np.arange(len(sizes)), sizes)
    first = (np.cumsum(sizes) - sizes)[source]
    row = np.arange(len(numbers))
    is_key, is_item = (kind >= LineKind.SCALAR) & (kind <= LineKind.OPEN), kind == LineKind.ITEM
    above = np.maximum.accumulate(np.where(is_key, row, -1)) if len(row) else row
    owner = np.maximum(above, 0)
    before = np.cumsum(is_item) - is_item
    ordinal = np.where(is_item, before - before[owner], np.where(kind == LineKind.SCALAR, -1, 0))
    is_odd = (kind == LineKind.OTHER) | (kind == LineKind.FOLDED)
    is_odd |= is_item & ((above < first) | (kind[owner] != LineKind.OPEN))
    items = np.flatnonzero(is_item)
    is_odd[items[1:]] |= (ordinal[items[1:]] > 0) & (detail[items[1:]] != detail[items[:-1]])
    keys = np.flatnonzero(is_key)
    given = source[keys] * (len(reader.keys) + 1) + detail[keys]
    order = np.argsort(given, kind="stable")
    is_odd[keys[order[1:]]] |= given[order[1:]] == given[order[:-1]]
    is_flat = is_short.copy()
    is_flat[source[is_odd]] = False
    kept = np.flatnonzero((is_key | is_item) & is_flat[source])
    return FlatRows(
        source=source[kept],
        number=numbers[kept],
        key=detail[owner[kept]],
        ordinal=ordinal[kept],
        line=2 + (owner - first)[kept],
        own_line=2 + (row - first)[kept],
        is_flat=is_flat,
    )
