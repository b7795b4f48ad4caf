"""Frontmatter as property columns: long rows of cells become typed segments over node ids.

A label's cells of one kind are a typed segment; where they differ, a variant segment keeps each cell's own kind.
Neighbouring labels with the same type share a segment, so that a scan of all notes reads one Series. Segments are cut
where no node has the property for long, so that a rare property costs little. Built-in properties are nodes.py's.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.coerce import cell_text, cell_texts
from vaultgraph.graph.columns import VARIANT, Ids, Segment
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.texts import NONE, Texts, columns_of, order_by, rows_at, taken
from vaultgraph.note.records import ValueKind

GAP: Final = 4096  # ids without a cell after which a segment is cut; bounds the memory a rare property takes
WIDEST: Final = 20_000_000  # cells of all properties: beyond it segments stay as narrow as they are
LIST_OF: Final = 16  # code of a list cell: LIST_OF + the kind of its items
VARIANT_CODE: Final = 255
TEXT_LISTS: Final = ("aliases", "tags", "cssclasses")  # always lists of texts, however they are written

Codes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Source:
    """Values of one type; ``position``: ``int64[cells]``, where each cell's value is; ``blank``: where that of a
    missing cell is, -1 for null."""

    values: pl.Series
    position: Ids
    blank: int = NONE


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells, sorted by property and node, and all rows they are made of, in the same order.

    By cell: ``key`` (number of the property), ``node``, ``code`` (kind of value, LIST_OF and more for lists), ``row``
    (its first row), ``is_list``. By row: ``kind``, ``values`` (number, real, text), ``cell``; ``items``: rows of lists.
    """

    key: Ids
    node: Ids
    code: Codes
    row: Ids
    is_list: Flags
    kind: Codes
    values: pl.DataFrame
    cell: Ids
    items: Ids


def property_segments(rows: pl.DataFrame, groups: tuple[NodeGroup, ...]) -> dict[str, list[Segment]]:
    """Segments of each property, by key, sorted by ``first``.

    ``rows``: node Int64, key String, ordinal Int32, kind UInt8, number Int64, real Float64, text String; the items of
    a list in order. ``groups``: node groups of the graph, whose boundaries decide what shares a type.
    """
    if not rows.height:
        return {}
    keys = Texts()
    keys.numbers(pl.Series(TEXT_LISTS))
    cells = _cells(rows, keys.numbers(rows["key"]))
    codes = _segment_codes(cells, groups)
    present = np.flatnonzero(np.bincount(codes)).tolist()
    return _cut(cells, keys.distinct, codes, groups, {code: _source(code, codes, cells) for code in present})


def _cells(rows: pl.DataFrame, key: Ids) -> _Cells:
    """The cells of long rows; ``key``: their properties' numbers, those of TEXT_LISTS first."""
    node = rows["node"].to_numpy()
    order = order_by(key, node)
    key, node = key[order], node[order]
    rows = rows_at(columns_of(rows, "ordinal", "kind", "number", "real", "text"), order)
    ordinal, kind = rows["ordinal"].to_numpy(), rows["kind"].to_numpy()
    values = columns_of(rows, "number", "real", "text")
    # The reserved keys are lists of texts: a scalar is a list of one.
    is_reserved = (key < len(TEXT_LISTS)) & (kind != ValueKind.EMPTY_LIST)
    if is_reserved.any():
        other = np.flatnonzero(is_reserved & (kind != ValueKind.TEXT))
        values = _with_texts(values, other, cell_texts(rows[other])) if len(other) else values
        ordinal = np.where(is_reserved, np.maximum(ordinal, 0), ordinal)
        kind = np.where(is_reserved, np.uint8(ValueKind.TEXT), kind)
    starts = (np.diff(key, prepend=-1) != 0) | (np.diff(node, prepend=-1) != 0)
    first, cell = np.flatnonzero(starts), np.cumsum(starts) - 1
    items = np.flatnonzero(ordinal >= 0)
    code = kind[first]
    if len(items):
        at, (low, high) = _extremes(cell[items], kind[items], kind[items])
        code[at] = np.where((low == high) & (low < ValueKind.EMPTY_LIST), low + LIST_OF, ValueKind.JSON)
    return _Cells(key[first], node[first], code, first, ordinal[first] >= 0, kind, values, cell, items)


def _with_texts(values: pl.DataFrame, rows: Ids, texts: pl.Series) -> pl.DataFrame:
    """``values`` with other texts in some rows."""
    place = np.arange(values.height)
    place[rows] = values.height + np.arange(len(rows))
    return values.with_columns(taken(pl.concat([values["text"], texts], rechunk=True), place))


def _extremes(groups: Ids, lows: Codes, highs: Codes) -> tuple[Ids, tuple[Codes, Codes]]:
    """The groups, which are ascending, each with the least of its ``lows`` and the greatest of its ``highs``."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return groups[starts], (np.minimum.reduceat(lows, starts), np.maximum.reduceat(highs, starts))


def _segment_codes(cells: _Cells, groups: tuple[NodeGroup, ...]) -> Codes:
    """For each cell the code its whole label agrees on, or VARIANT_CODE."""
    starts = np.array([group.first for group in groups], dtype=np.int64)
    label = np.searchsorted(starts, cells.node, side="right") - 1
    run = np.cumsum((np.diff(cells.key, prepend=-1) != 0) | (np.diff(label, prepend=-1) != 0)) - 1
    is_empty = cells.code == ValueKind.EMPTY_LIST
    # Empty lists go with lists of any kind.
    lows, highs = np.where(is_empty, np.uint8(VARIANT_CODE), cells.code), np.where(is_empty, np.uint8(0), cells.code)
    _, (low, high) = _extremes(run, lows, highs)
    has_empty = np.bincount(run[is_empty], minlength=len(low)) > 0
    is_mixed = (low != high) | (low == ValueKind.JSON) | (has_empty & (low < LIST_OF))
    agreed = np.where(is_mixed, np.uint8(VARIANT_CODE), low)
    agreed[high == 0] = LIST_OF + ValueKind.TEXT
    return agreed[run]


def _source(code: int, codes: Codes, cells: _Cells) -> Source:
    """Where the cells of segments with ``code`` are gathered from."""
    chosen = np.flatnonzero(codes == code)
    if code == VARIANT_CODE:
        return _variants(cells, chosen)
    position = np.full(len(codes), NONE, dtype=np.int64)
    if code > LIST_OF:
        return _lists(ValueKind(code - LIST_OF), cells, chosen, position)
    position[chosen] = np.arange(len(chosen))
    return Source(_typed(ValueKind(code), cells.values, cells.row[chosen]), position)


def _lists(kind: ValueKind, cells: _Cells, chosen: Ids, position: Ids) -> Source:
    """All chosen cells, whose items are of ``kind``, and empty lists."""
    is_full = cells.code[chosen] != ValueKind.EMPTY_LIST
    is_asked = np.zeros(len(cells.code), dtype=np.bool_)
    is_asked[chosen[is_full]] = True
    items = cells.items[is_asked[cells.cell[cells.items]]]
    values = pl.DataFrame([pl.Series("cell", cells.cell[items]), _typed(kind, cells.values, items).alias("values")])
    lists = values.group_by("cell", maintain_order=True).agg("values")["values"]
    position[chosen[is_full]] = np.arange(len(lists))
    position[chosen[~is_full]] = len(lists)
    empty = pl.Series("values", [[]], dtype=lists.dtype)
    return Source(lists if is_full.all() else pl.concat([lists, empty], rechunk=True), position)


def _typed(kind: ValueKind, values: pl.DataFrame, rows: Ids) -> pl.Series:
    """The values of rows that all have ``kind``."""
    match kind:
        case ValueKind.INTEGER:
            return taken(values["number"], rows)
        case ValueKind.FLOAT:
            return taken(values["real"], rows)
        case ValueKind.BOOLEAN:
            return taken(values["number"], rows).cast(pl.Boolean)
        case ValueKind.DATE:
            return taken(values["number"], rows).cast(pl.Int32).cast(pl.Date)
        case ValueKind.LOCAL_DATETIME:
            return taken(values["number"], rows).cast(pl.Datetime("us"))
        case ValueKind.UTC_DATETIME:
            return taken(values["number"], rows).cast(pl.Datetime("us", "UTC"))
        case _:
            return taken(values["text"], rows)


def _variants(cells: _Cells, chosen: Ids) -> Source:
    """The chosen cells as VARIANT structs; a list is JSON text, and a missing cell is a struct of kind 0."""
    rows, is_empty = cells.row[chosen], cells.code[chosen] == ValueKind.EMPTY_LIST
    kind, texts = cells.kind[rows], taken(cells.values["text"], rows)
    is_listed = cells.is_list[chosen]
    if is_listed.any():
        is_asked = np.zeros(len(cells.code), dtype=np.bool_)
        is_asked[chosen[is_listed]] = True
        items = cells.items[is_asked[cells.cell[cells.items]]]
        inside = rows_at(cells.values, items)
        inside = inside.with_columns(pl.Series("kind", cells.kind[items]), pl.Series("cell", cells.cell[items]))
        listed = inside.select("cell", json=_json_item()).group_by("cell", maintain_order=True)
        json = listed.agg(pl.col("json").str.join(",")).select(pl.format("[{}]", "json").alias("text"))["text"]
        texts = _with_texts(texts.to_frame(), np.flatnonzero(is_listed), json)["text"]
    if is_empty.any():
        texts = _with_texts(texts.to_frame(), np.flatnonzero(is_empty), pl.Series(["[]"] * int(is_empty.sum())))["text"]
    is_json = is_listed | is_empty
    kept = np.where(is_json, NONE, rows)
    blank = len(chosen)
    position = np.full(len(cells.code), blank, dtype=np.int64)
    position[chosen] = np.arange(blank)
    kinds = np.append(np.where(is_json, np.uint8(ValueKind.JSON), kind), np.uint8(0))
    fields = [
        pl.Series("kind", kinds.astype(np.uint8)),
        taken(cells.values["number"], np.append(kept, NONE)),
        taken(cells.values["real"], np.append(kept, NONE)),
        taken(texts, np.append(np.arange(blank), NONE)),
    ]
    return Source(pl.DataFrame(fields).to_struct().cast(VARIANT), position, blank)


def _json_item() -> pl.Expr:
    """A list item as JSON: texts and times quoted, the rest bare; an item that is JSON already stays."""
    text = cell_text()
    quoted = pl.struct(x=text).struct.json_encode().str.slice(5)
    bare = pl.col("kind").is_in([ValueKind.INTEGER, ValueKind.FLOAT, ValueKind.BOOLEAN, ValueKind.JSON])
    empty = pl.col("kind") == ValueKind.EMPTY_LIST
    return pl.when(empty).then(pl.lit("[]")).when(bare).then(text).otherwise(quoted.str.head(-1))


def _cut(
    cells: _Cells, keys: pl.Series, codes: Codes, groups: tuple[NodeGroup, ...], sources: dict[int, Source]
) -> dict[str, list[Segment]]:
    """Segments of the cells: a new one at each change of key or type and after each long gap."""
    nodes, key = cells.node, cells.key
    changes = (np.diff(key, prepend=-1) != 0) | (np.diff(codes.astype(np.int64), prepend=-1) != 0)
    changes |= np.diff(nodes, prepend=nodes[:1]) > GAP
    starts = np.flatnonzero(changes)
    stops = np.append(starts[1:], len(nodes))
    firsts, lasts = _widened(nodes[starts], nodes[stops - 1] + 1, key[starts], groups)
    segments: dict[str, list[Segment]] = {}
    # row loop: one step for each segment, which are few for each property
    for at, name in enumerate(taken(keys, key[starts]).to_list()):
        source, first = sources[int(codes[starts[at]])], int(firsts[at])
        slots = np.full(int(lasts[at]) - first, source.blank, dtype=np.int64)
        inside = slice(starts[at], stops[at])
        slots[nodes[inside] - first] = source.position[inside]
        segments.setdefault(name, []).append(Segment(first, taken(source.values, slots).alias(name)))
    return segments


def _widened(firsts: Ids, lasts: Ids, keys: Ids, groups: tuple[NodeGroup, ...]) -> tuple[Ids, Ids]:
    """Segment bounds moved out to those of whole labels where they are near, never into the next of the same key.

    A scan of the label then finds one segment that covers it.
    """
    bounds = np.array([group.first for group in groups] + [groups[-1].stop], dtype=np.int64)
    label_first = bounds[np.searchsorted(bounds, firsts, side="right") - 1]
    label_last = bounds[np.searchsorted(bounds, lasts - 1, side="right")]
    wide_firsts = np.where(firsts - label_first <= GAP, label_first, firsts)
    wide_lasts = np.where(label_last - lasts <= GAP, label_last, lasts)
    same = keys[1:] == keys[:-1]
    # Two segments of one label (a long gap between them) meet where the later one starts.
    wide_lasts[:-1] = np.where(same, np.minimum(wide_lasts[:-1], firsts[1:]), wide_lasts[:-1])
    wide_firsts[1:] = np.where(same, np.maximum(wide_firsts[1:], wide_lasts[:-1]), wide_firsts[1:])
    is_small = int((wide_lasts - wide_firsts).sum()) <= WIDEST
    return (wide_firsts, wide_lasts) if is_small else (firsts, lasts)
