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

from vaultgraph.graph.coerce import cell_text
from vaultgraph.graph.columns import VARIANT, Ids, Segment
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.note.records import ValueKind

GAP: Final = 4096  # ids without a cell after which a segment is cut; bounds the memory a rare property takes
WIDEST: Final = 20_000_000  # cells of all properties: beyond it segments stay as narrow as they are
LIST_OF: Final = 16  # code of a list cell: LIST_OF + the kind of its items
VARIANT_CODE: Final = 255
TEXT_LISTS: Final = ("aliases", "tags", "cssclasses")  # always lists of texts, however they are written

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Source:
    """Values of one type, the last of them what a missing cell has; ``position``: where each cell's value is, and one
    more for a missing cell."""

    values: pl.Series
    position: Ids


def property_segments(rows: pl.DataFrame, groups: tuple[NodeGroup, ...]) -> dict[str, list[Segment]]:
    """Segments of each property, by key, sorted by ``first``.

    ``rows``: node Int64, key String, ordinal Int32, kind UInt8, number Int64, real Float64, text String; the items of
    a list in order. ``groups``: node groups of the graph, whose boundaries decide what shares a type.
    """
    if not rows.height:
        return {}
    cells, items = _cells(_with_text_lists(rows))
    codes = _segment_codes(cells, groups)
    return _cut(cells, codes, groups, {code: _source(code, codes, cells, items) for code in np.unique(codes).tolist()})


def _with_text_lists(rows: pl.DataFrame) -> pl.DataFrame:
    """Scalars under the reserved list keys as lists of one, their items as texts."""
    reserved = rows["key"].is_in(list(TEXT_LISTS)) & (rows["kind"] != ValueKind.EMPTY_LIST)
    if not reserved.any():
        return rows
    return rows.with_columns(
        ordinal=pl.when(reserved).then(pl.max_horizontal(pl.col("ordinal"), pl.lit(0, pl.Int32))).otherwise("ordinal"),
        kind=pl.when(reserved).then(pl.lit(ValueKind.TEXT.value, pl.UInt8)).otherwise("kind"),
        text=pl.when(reserved).then(cell_text()).otherwise("text"),
    )


def _cells(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row a cell, sorted by key and node, with its code; and the list items, sorted, with their ``cell``."""
    # Key and node packed into one number: one sort of integers in place of one of texts.
    names = rows["key"].unique().sort()
    numbers = pl.DataFrame({"key": names, "at": pl.int_range(len(names), dtype=pl.Int64, eager=True)})
    key = rows.select("key").join(numbers, on="key", how="left", maintain_order="left")["at"].to_numpy()
    node = rows["node"].to_numpy()
    packed = key * (int(node.max()) + 1) + node
    order = np.argsort(packed, kind="stable")
    rows = rows[order]
    starts = np.diff(packed[order], prepend=-1) != 0
    cell = pl.Series("cell", np.cumsum(starts) - 1)
    first = rows.filter(pl.Series(starts)).select(
        "key", "node", "kind", "number", "real", "text", is_list=pl.col("ordinal") >= 0
    )
    items = rows.with_columns(cell).filter(pl.col("ordinal") >= 0).select("cell", "kind", "number", "real", "text")
    codes = first["kind"].to_numpy().copy()
    if items.height:
        spans = items.group_by("cell").agg(low=pl.col("kind").min(), high=pl.col("kind").max())
        at, low, high = (spans[name].to_numpy() for name in ("cell", "low", "high"))
        codes[at] = np.where((low == high) & (low < ValueKind.EMPTY_LIST), low + LIST_OF, ValueKind.JSON)
    return first.with_columns(code=pl.Series(codes)), items


def _segment_codes(cells: pl.DataFrame, groups: tuple[NodeGroup, ...]) -> Codes:
    """For each cell the code its whole label agrees on, or VARIANT_CODE."""
    starts = np.array([group.first for group in groups], dtype=np.int64)
    group = np.searchsorted(starts, cells["node"].to_numpy(), side="right") - 1
    empty = ValueKind.EMPTY_LIST.value
    table = pl.DataFrame({"key": cells["key"].rle_id(), "group": group, "code": cells["code"]})
    full = pl.when(pl.col("code") != empty).then("code")
    agreed = table.with_columns(
        low=full.min().over("key", "group"),
        high=full.max().over("key", "group"),
        has_empty=(pl.col("code") == empty).any().over("key", "group"),
    )
    low, high = pl.col("low"), pl.col("high")
    code = (
        pl.when(low.is_null())
        .then(pl.lit(LIST_OF + ValueKind.TEXT))
        .when((low != high) | (low == ValueKind.JSON) | (pl.col("has_empty") & (low < LIST_OF)))
        .then(pl.lit(VARIANT_CODE))
        .otherwise(low)
    )
    return agreed.select(code.cast(pl.UInt8).alias("code"))["code"].to_numpy()


def _source(code: int, codes: Codes, cells: pl.DataFrame, items: pl.DataFrame) -> Source:
    """Where the cells of segments with ``code`` are gathered from."""
    if code == VARIANT_CODE:
        return _variants(cells, items, codes == code)
    if code > LIST_OF:
        return _lists(ValueKind(code - LIST_OF), cells, items)
    kind = ValueKind(code)
    values = _typed(kind, cells.with_columns(number=pl.when(pl.col("kind") == kind).then("number")))
    return Source(_with_blank(values), np.append(np.arange(cells.height), cells.height))


def _lists(kind: ValueKind, cells: pl.DataFrame, items: pl.DataFrame) -> Source:
    """All list cells whose items are of ``kind``, and empty lists."""
    chosen = items.filter(pl.col("kind") == kind)
    values = pl.DataFrame({"cell": chosen["cell"], "values": _typed(kind, chosen)})
    lists = values.group_by("cell", maintain_order=True).agg("values")
    empty = pl.Series("values", [[]], dtype=lists["values"].dtype)
    position = np.full(cells.height + 1, lists.height + 1, dtype=np.int64)
    position[lists["cell"].to_numpy()] = np.arange(lists.height)
    position[np.flatnonzero(cells["code"].to_numpy() == ValueKind.EMPTY_LIST)] = lists.height
    return Source(_with_blank(pl.concat([lists["values"], empty])), position)


def _with_blank(values: pl.Series) -> pl.Series:
    """``values`` and a null at the end, which is what missing cells are gathered from."""
    return values.extend_constant(None, 1)


def _typed(kind: ValueKind, cells: pl.DataFrame) -> pl.Series:
    """The values of cells that all have ``kind``."""
    match kind:
        case ValueKind.INTEGER:
            return cells["number"]
        case ValueKind.FLOAT:
            return cells["real"]
        case ValueKind.BOOLEAN:
            return cells["number"].cast(pl.Boolean)
        case ValueKind.DATE:
            return cells["number"].cast(pl.Int32).cast(pl.Date)
        case ValueKind.LOCAL_DATETIME:
            return cells["number"].cast(pl.Datetime("us"))
        case ValueKind.UTC_DATETIME:
            return cells["number"].cast(pl.Datetime("us", "UTC"))
        case _:
            return cells["text"]


def _variants(cells: pl.DataFrame, items: pl.DataFrame, chosen: npt.NDArray[np.bool_]) -> Source:
    """The chosen cells as VARIANT structs; a list is JSON text, and a missing cell is a struct of kind 0."""
    at = np.flatnonzero(chosen)
    rows = cells.with_row_index("cell").filter(pl.Series(chosen)).with_columns(pl.col("cell").cast(pl.Int64))
    inside = items.filter(pl.col("cell").is_in(rows.filter("is_list")["cell"].implode()))
    texts = inside.select("cell", json=_json_item()).group_by("cell", maintain_order=True)
    listed = texts.agg(pl.col("json").str.join(",")).select("cell", json=pl.format("[{}]", "json"))
    rows = rows.join(listed, on="cell", how="left", maintain_order="left")
    is_empty = pl.col("code") == ValueKind.EMPTY_LIST
    is_json = pl.col("json").is_not_null() | is_empty
    fields = rows.select(
        kind=pl.when(is_json).then(ValueKind.JSON.value).otherwise("kind").cast(pl.UInt8),
        number=pl.when(~is_json).then("number"),
        real=pl.when(~is_json).then("real"),
        text=pl.when(is_empty).then(pl.lit("[]")).otherwise(pl.coalesce("json", "text")),
    )
    blank = pl.DataFrame({"kind": [0], "number": [None], "real": [None], "text": [None]}, schema=fields.schema)
    position = np.full(cells.height + 1, len(at), dtype=np.int64)
    position[at] = np.arange(len(at))
    return Source(pl.concat([fields, blank]).to_struct().cast(VARIANT), position)


def _json_item() -> pl.Expr:
    """A list item as JSON: texts and times quoted, the rest bare; an item that is JSON already stays."""
    text = cell_text()
    quoted = pl.struct(x=text).struct.json_encode().str.slice(5)
    bare = pl.col("kind").is_in([ValueKind.INTEGER, ValueKind.FLOAT, ValueKind.BOOLEAN, ValueKind.JSON])
    empty = pl.col("kind") == ValueKind.EMPTY_LIST
    return pl.when(empty).then(pl.lit("[]")).when(bare).then(text).otherwise(quoted.str.head(-1))


def _cut(
    cells: pl.DataFrame, codes: Codes, groups: tuple[NodeGroup, ...], sources: dict[int, Source]
) -> dict[str, list[Segment]]:
    """Segments from cells sorted by key and node: a new one at each change of key or type and after each long gap."""
    nodes, keys = cells["node"].to_numpy(), cells["key"]
    key = keys.rle_id().to_numpy().astype(np.int64)
    changes = (np.diff(key, prepend=-1) != 0) | (np.diff(codes.astype(np.int64), prepend=-1) != 0)
    changes |= np.diff(nodes, prepend=nodes[:1]) > GAP
    starts = np.flatnonzero(changes)
    stops = np.append(starts[1:], len(nodes))
    firsts, lasts = _widened(nodes[starts], nodes[stops - 1] + 1, key[starts], groups)
    segments: dict[str, list[Segment]] = {}
    # row loop: one step for each segment, which are few for each property
    for at, name in enumerate(keys.gather(starts).to_list()):
        source, first = sources[int(codes[starts[at]])], int(firsts[at])
        slots = np.full(int(lasts[at]) - first, len(nodes), dtype=np.int64)
        slots[nodes[starts[at] : stops[at]] - first] = np.arange(starts[at], stops[at])
        series = source.values.gather(source.position[slots])
        segments.setdefault(name, []).append(Segment(first, series.alias(name)))
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
