"""Headings, block ids and the stretches of inline text of all bodies.

Joins the two readers of block structure: `regions` and `stretches` (columns, for nearly all bodies) and `structure`
(exact, for the rest). A segment is what inline syntax may span: a paragraph, a list item's text, a heading, a table
row. Only segments that may hold a link or a tag are given, unless all are asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.alone import TEXTS, kept, made_of, selected
from vaultgraph.note.cuts import Exact, read_hard
from vaultgraph.note.lines import BoolArray, IntArray, Lines, at_rows, split_lines
from vaultgraph.note.regions import find_regions
from vaultgraph.note.stretches import Stretches, find_stretches
from vaultgraph.note.structure import CELL_TAG, structures_of

_BLOCK_ID: Final = r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$"
_QUOTE_MARKS: Final = r"^[ \t]*(?:>[ \t]?)+"
_CLOSING_MARKS: Final = r"(?:^|[ \t])[ \t]*#+[ \t]*$"
_UNQUOTED: Final = TEXTS.str.replace(_QUOTE_MARKS, "")
_HASHES: Final = TEXTS.str.strip_chars_start(" ").alias("hashes")
_UNMARKED: Final = pl.col("hashes").str.strip_chars_start("#").alias("unmarked")
_LEVEL: Final = (pl.col("hashes").str.len_bytes() - pl.col("unmarked").str.len_bytes()).cast(pl.UInt8).alias("level")
_HEADING: Final = pl.col("unmarked").str.strip_chars(" \t").alias("text")
# what stands around a heading's text and is none of it: blank space, in all scripts
_BLANKS: Final = " \t\n\x0b\x0c\r\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_STRIPPED: Final = TEXTS.str.strip_chars(_BLANKS)
_IS_CLOSED: Final = TEXTS.str.ends_with("#")
_OPENED: Final = TEXTS.str.replace(_CLOSING_MARKS, "").str.strip_chars(" \t")
_TAGGED_CELLS: Final = TEXTS.str.replace_all(CELL_TAG, "${1}| #")
_ID: Final = TEXTS.str.extract(_BLOCK_ID)
_NO_BLOCKS: Final = pl.DataFrame(schema={"row": pl.Int64, "body": pl.Int64, "id": pl.String})


@dataclass(frozen=True, slots=True)
class Segments:
    """Inline text in order of ``row``.

    ``text``: row Int64 (line of the batch it starts on), body Int64, text String. ``headings``: row, body, level UInt8,
    text. ``blocks``: row, body, id. ``references``: by body, where there are any. All frames are sorted by row.
    ``readable``: bool[lines], the lines that hold inline text, as far as it was asked for.
    """

    text: pl.DataFrame
    headings: pl.DataFrame
    blocks: pl.DataFrame
    references: Mapping[int, Mapping[str, tuple[str, str]]]
    readable: BoolArray


def find_segments(
    bodies: Sequence[str] | pl.Series, *, exact_only: bool = False, every_line: bool = False
) -> tuple[Lines, Segments]:
    """The lines and the inline text of all ``bodies``, whose line ends are LF.

    With ``every_line`` all text is given, not only what may hold a link, a tag or a block id. ``exact_only`` reads
    every body by its exact block structure, which is slow; the two ways are held against each other in tests.
    """
    lines = split_lines(bodies, every_line=every_line)
    regions = find_regions(lines)
    if exact_only:
        regions.hard[:] = True
    stretches = find_stretches(lines, regions)
    exact: list[Exact] = []
    if exact_only:
        structures = enumerate(structures_of([bodies[body] for body in range(len(bodies))]))
        exact = [Exact(int(lines.first[body]), body, structure) for body, structure in structures]
    elif regions.hard.any():
        stretches, exact = read_hard(lines, regions, stretches)
    quick_text, quick_headings = _quick(lines, stretches)
    readable = stretches.readable
    texts, headings = quick_text, quick_headings
    if exact:
        slow_text, slow_headings = _exact(exact, readable)
        texts = pl.concat([quick_text, slow_text], rechunk=True).sort("row")
        headings = pl.concat([quick_headings, slow_headings], rechunk=True).sort("row")
    segments = Segments(
        text=texts,
        headings=headings,
        blocks=_blocks(lines, readable),
        references={part.body: part.structure.references for part in exact if part.structure.references},
        readable=readable,
    )
    return lines, segments


def _quick(lines: Lines, stretches: Stretches) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Segments and headings of the bodies that are not hard, in order of rows."""
    flags = lines.flags
    rows = np.flatnonzero(stretches.readable)
    first = np.flatnonzero(stretches.starts[rows])
    sizes = np.diff(np.append(first, len(rows)))
    has_open = np.logical_or.reduceat(flags["open"][rows], first) if len(rows) else np.zeros(0, np.bool_)
    text = _joined(lines, rows, first[has_open], sizes[has_open])
    in_table = stretches.is_table[text["row"].to_numpy()]
    if in_table.any():
        rows_of_tables = made_of(text["text"].filter(pl.Series(in_table)), _TAGGED_CELLS)
        text = text.with_columns(text["text"].scatter(np.flatnonzero(in_table), rows_of_tables))
    is_heading = flags["heading"] & stretches.readable
    return text, _headings(lines, is_heading, stretches.underlines, rows, first, sizes)


def _joined(lines: Lines, rows: IntArray, first: IntArray, sizes: IntArray) -> pl.DataFrame:
    """The text of the segments at positions ``first`` of ``rows``, ``sizes`` lines each."""
    starts = rows[first]
    offsets = np.cumsum(sizes) - sizes
    chosen = rows[np.repeat(first - offsets, sizes) + np.arange(sizes.sum())]
    texts = lines.text[pl.Series(chosen.astype(np.uint32))]
    quoted = lines.flags["quote"][chosen]
    if quoted.any():
        texts = texts.scatter(np.flatnonzero(quoted), made_of(texts.filter(pl.Series(quoted)), _UNQUOTED))
    several = np.repeat(sizes > 1, sizes)
    if several.any():
        segment = np.repeat(np.arange(len(first)), sizes)
        frame = pl.DataFrame([pl.Series("segment", segment), texts])
        single = kept(frame, pl.Series(~several))
        joined = kept(frame, pl.Series(several)).group_by("segment", maintain_order=True).agg(TEXTS.str.join("\n"))
        texts = pl.concat([single, joined], rechunk=True).sort("segment")["text"]
    return pl.DataFrame([pl.Series("row", starts), pl.Series("body", lines.body[starts]), texts])


def _headings(
    lines: Lines, is_heading: BoolArray, underlines: IntArray, rows: IntArray, first: IntArray, sizes: IntArray
) -> pl.DataFrame:
    at = np.flatnonzero(is_heading)
    # step by step: an expression that has another one twice computes it twice
    marks = selected(at_rows(lines.text, at).to_frame("text"), [_HASHES])
    found = selected(selected(marks, [pl.col("hashes"), _UNMARKED]), [_LEVEL, _HEADING])
    headings = found["text"]
    is_closed = made_of(headings, _IS_CLOSED)
    if is_closed.any():
        opened = made_of(headings.filter(is_closed), _OPENED)
        headings = headings.scatter(np.flatnonzero(is_closed.to_numpy()), opened)
    headings = made_of(headings, _STRIPPED)
    marked = pl.DataFrame([pl.Series("row", at), pl.Series("body", lines.body[at]), found["level"], headings])
    if not len(underlines):
        return marked
    segment = np.searchsorted(rows[first], underlines - 1, side="right") - 1
    text = _joined(lines, rows, first[segment], sizes[segment])
    levels = at_rows(lines.text, underlines).str.contains("=", literal=True)
    lined = text.select(
        pl.col("row") + TEXTS.str.count_matches("\n") - TEXTS.str.strip_chars_start(_BLANKS).str.count_matches("\n"),
        "body",
        pl.when(levels).then(1).otherwise(2).cast(pl.UInt8).alias("level"),
        pl.col("text").str.replace_all(r"[ \t]*\n[ \t]*", " ").str.strip_chars(_BLANKS).alias("text"),
    )
    return pl.concat([marked, lined], rechunk=True).sort("row")


def _exact(exact: Sequence[Exact], readable: BoolArray) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Segments and headings of what is read exactly; marks the lines of inline text as readable."""
    found: list[tuple[int, int, str, int]] = []
    # row loop: text blocks of the few bodies read exactly
    for part in exact:
        for block in part.structure.blocks:
            readable[part.row + block.start : part.row + block.end] = True
            found.append((part.row + block.start, part.body, block.text, block.level))
    schema = {"row": pl.Int64, "body": pl.Int64, "text": pl.String, "level": pl.UInt8}
    frame = pl.DataFrame(found, schema=schema, orient="row")
    headings = frame.filter(pl.col("level") > 0).select(
        "row", "body", "level", pl.col("text").str.replace_all(r"[ \t]*\n[ \t]*", " ")
    )
    return frame.select("row", "body", "text"), headings


def _blocks(lines: Lines, readable: BoolArray) -> pl.DataFrame:
    carets = np.flatnonzero(lines.flags["caret"] & readable)
    if not len(carets):
        return _NO_BLOCKS
    frame = pl.DataFrame({"row": carets, "body": lines.body[carets], "id": made_of(at_rows(lines.text, carets), _ID)})
    return frame.drop_nulls("id")
