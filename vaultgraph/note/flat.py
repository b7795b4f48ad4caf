"""Frontmatter that needs no YAML parser: keys at the first column, with one-line scalars or lists of them.

A shortcut in front of `frontmatter.compose` that takes most notes: the grammar here is a part of YAML in which every
line means the same by itself (`flat_lines`) as in the whole. Anything else, however slightly, is refused and goes to
the parser. Any number of notes are read at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vaultgraph.note.flat_lines import LineKind, LineReader
from vaultgraph.note.lines import BoolArray, IntArray
from vaultgraph.note.values import Values

MOST_CHARS: Final = 20_000


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


def read_flat(reader: LineReader, sources: Sequence[str]) -> FlatRows:
    """What the lines of ``sources`` state, whose line ends are LF."""
    is_short = [source[-1:] == "\n" and len(source) <= MOST_CHARS for source in sources]
    short = [source for source, is_so in zip(sources, is_short, strict=True) if is_so]
    texts = "".join(short).split("\n")
    texts.pop()
    sizes = np.zeros(len(sources), dtype=np.int64)
    sizes[np.flatnonzero(is_short)] = [source.count("\n") for source in short]
    return _laid_out(reader, reader.numbers_of(texts), sizes, np.array(is_short, dtype=np.bool_))


def is_flat(source: str) -> bool:
    """Whether one frontmatter needs no YAML parser."""
    return bool(read_flat(LineReader(Values()), [source]).is_flat[0])


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
    is_odd = (kind == LineKind.OTHER) | (is_item & ((above < first) | (kind[owner] != LineKind.OPEN)))
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
