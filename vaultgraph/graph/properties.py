"""Frontmatter as property columns: long rows of cells become typed segments over node ids.

A label's cells of one kind are a typed segment; where they differ, a variant segment keeps each cell's own kind.
Neighbouring labels with the same type share a segment, so that a scan of all notes reads one Series. Segments are cut
where no node has the property for long, so that a rare property costs little. Built-in properties are nodes.py's.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.coerce import cell_text
from vaultgraph.graph.columns import VARIANT, Ids, Segment
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.note.records import ValueKind

GAP: Final = 4096  # ids without a cell after which a segment is cut; bounds the memory a rare property takes
LIST_OF: Final = 16  # code of a list cell: LIST_OF + the kind of its items
VARIANT_CODE: Final = 255
TEXT_LISTS: Final = ("aliases", "tags", "cssclasses")  # always lists of texts, however they are written

Codes = npt.NDArray[np.uint8]


def property_segments(rows: pl.DataFrame, groups: tuple[NodeGroup, ...]) -> dict[str, list[Segment]]:
    """Segments of each property, by key, sorted by ``first``.

    ``rows``: node Int64, key String, ordinal Int32, kind UInt8, number Int64, real Float64, text String, in any order;
    ``groups``: node groups of the graph, whose boundaries decide what shares a type.
    """
    if not rows.height:
        return {}
    cells, items = _cells(_with_text_lists(rows))
    codes = _segment_codes(cells, groups)
    lists = {
        code: _lists_of(code, items) for code in sorted(set(codes[codes != VARIANT_CODE].tolist())) if code > LIST_OF
    }
    variants = _variants(cells, items, codes == VARIANT_CODE)
    return _cut(cells, codes, groups, lists, variants)


def _with_text_lists(rows: pl.DataFrame) -> pl.DataFrame:
    """Scalars under the reserved list keys as lists of one, their items as texts."""
    reserved = rows["key"].is_in(list(TEXT_LISTS)) & (rows["kind"] != ValueKind.EMPTY_LIST)
    if not reserved.any():
        return rows
    listed = rows.filter(reserved).with_columns(
        ordinal=pl.max_horizontal(pl.col("ordinal"), pl.lit(0, pl.Int32)),
        kind=pl.lit(ValueKind.TEXT.value, pl.UInt8),
        text=cell_text(),
    )
    return pl.concat([rows.filter(~reserved), listed.select(rows.columns)])


def _cells(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row a cell, sorted by key and node, with its code; and the list items, sorted, with their ``cell``."""
    # Keys are numbered first: sorting numbers is several times faster than sorting texts.
    names = rows["key"].unique().sort()
    numbers = pl.DataFrame({"key": names, "number_of_key": pl.int_range(len(names), dtype=pl.UInt32, eager=True)})
    numbered = rows.join(numbers, on="key", how="left", maintain_order="left")
    rows = numbered.sort("number_of_key", "node", "ordinal")
    key, node = rows["number_of_key"].to_numpy().astype(np.int64), rows["node"].to_numpy()
    starts = (np.diff(key, prepend=-1) != 0) | (np.diff(node, prepend=-1) != 0)
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


def _lists_of(code: int, items: pl.DataFrame) -> tuple[Ids, pl.Series]:
    """(cell of each list, the lists) for all list cells whose items have the kind of ``code``."""
    kind = ValueKind(code - LIST_OF)
    chosen = items.filter(pl.col("kind") == kind)
    values = pl.DataFrame({"cell": chosen["cell"], "values": _typed(kind, chosen)})
    lists = values.group_by("cell", maintain_order=True).agg("values")
    return lists["cell"].to_numpy(), lists["values"]


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


def _variants(cells: pl.DataFrame, items: pl.DataFrame, chosen: npt.NDArray[np.bool_]) -> tuple[Ids, pl.Series]:
    """(cell, VARIANT struct) of the chosen cells; a list is JSON text."""
    at = np.flatnonzero(chosen)
    rows = cells.with_row_index("cell").filter(pl.Series(chosen)).with_columns(pl.col("cell").cast(pl.Int64))
    inside = items.filter(pl.col("cell").is_in(rows.filter("is_list")["cell"].implode()))
    texts = (
        inside.select("cell", json=_json_item()).group_by("cell", maintain_order=True).agg(pl.col("json").str.join(","))
    )
    listed = texts.select("cell", json=pl.format("[{}]", "json"))
    rows = rows.join(listed, on="cell", how="left", maintain_order="left")
    is_empty = pl.col("code") == ValueKind.EMPTY_LIST
    is_json = pl.col("json").is_not_null() | is_empty
    return at, rows.select(
        pl.struct(
            kind=pl.when(is_json).then(ValueKind.JSON.value).otherwise("kind").cast(pl.UInt8),
            number=pl.when(~is_json).then("number"),
            real=pl.when(~is_json).then("real"),
            text=pl.when(is_empty).then(pl.lit("[]")).otherwise(pl.coalesce("json", "text")),
        )
    ).to_series().cast(VARIANT)


def _json_item() -> pl.Expr:
    """A list item as JSON: texts and times quoted, the rest bare; an item that is JSON already stays."""
    text = cell_text()
    quoted = pl.struct(x=text).struct.json_encode().str.slice(5)
    bare = pl.col("kind").is_in([ValueKind.INTEGER, ValueKind.FLOAT, ValueKind.BOOLEAN, ValueKind.JSON])
    empty = pl.col("kind") == ValueKind.EMPTY_LIST
    return pl.when(empty).then(pl.lit("[]")).when(bare).then(text).otherwise(quoted.str.head(-1))


def _cut(
    cells: pl.DataFrame,
    codes: Codes,
    groups: tuple[NodeGroup, ...],
    lists: dict[int, tuple[Ids, pl.Series]],
    variants: tuple[Ids, pl.Series],
) -> dict[str, list[Segment]]:
    """Segments from cells sorted by key and node: a new one at each change of key or type and after each long gap."""
    nodes = cells["node"].to_numpy()
    keys = cells["key"]
    key = keys.rle_id().to_numpy()
    changes = (np.diff(key, prepend=-1) != 0) | (np.diff(codes.astype(np.int64), prepend=-1) != 0)
    changes |= np.diff(nodes, prepend=nodes[:1]) > GAP
    starts = np.flatnonzero(changes)
    stops = np.append(starts[1:], len(nodes))
    bounds = np.array([group.first for group in groups] + [groups[-1].stop], dtype=np.int64)
    first_of_group = bounds[np.searchsorted(bounds, nodes[starts], side="right") - 1]
    last_of_group = bounds[np.searchsorted(bounds, nodes[stops - 1], side="right")]
    # Widened to whole labels where that is near, so that a scan of the label finds one segment that covers it.
    firsts = np.where(nodes[starts] - first_of_group <= GAP, first_of_group, nodes[starts])
    lasts = np.where(last_of_group - nodes[stops - 1] <= GAP, last_of_group, nodes[stops - 1] + 1)
    names = keys.gather(starts).to_list()
    segments: dict[str, list[Segment]] = {}
    # row loop: one step for each segment, which are few for each property
    for i, name in enumerate(names):
        start, stop, code = int(starts[i]), int(stops[i]), int(codes[starts[i]])
        column = segments.setdefault(name, [])
        first = max(int(firsts[i]), column[-1].stop) if column else int(firsts[i])
        # Only the cells of this segment bound it from above; the next one starts where its label starts.
        last = int(lasts[i])
        if i + 1 < len(names) and key[starts[i + 1]] == key[start]:
            last = min(last, int(nodes[starts[i + 1]]))
        slots = np.full(last - first, -1, dtype=np.int64)
        slots[nodes[start:stop] - first] = np.arange(start, stop)
        column.append(Segment(first, _filled(code, cells, slots, lists, variants).alias(name)))
    return segments


def _filled(
    code: int,
    cells: pl.DataFrame,
    slots: Ids,
    lists: dict[int, tuple[Ids, pl.Series]],
    variants: tuple[Ids, pl.Series],
) -> pl.Series:
    """The values of the cells in ``slots`` (cell rows, -1 for none)."""
    present = slots >= 0
    if code == VARIANT_CODE:
        at, structs = variants
        chosen = structs.gather(_nullable(np.searchsorted(at, slots), present)).struct
        # A missing cell is a struct of kind 0, never a null struct.
        return chosen.unnest().with_columns(pl.col("kind").fill_null(0)).to_struct()
    if code > LIST_OF:
        at, values = lists[code]
        where = np.minimum(np.searchsorted(at, slots), max(len(at) - 1, 0))
        if len(at):
            filled = values.gather(_nullable(where, present & (at[where] == slots)))
        else:
            filled = pl.Series([None], dtype=values.dtype).new_from_index(0, len(slots))
        return _with_empty_lists(filled, cells, slots)
    kind = ValueKind(code)
    raw = {ValueKind.FLOAT: "real", ValueKind.TEXT: "text"}.get(kind, "number")
    return _typed(kind, cells[raw].gather(_nullable(slots, present)).to_frame(raw))


def _with_empty_lists(filled: pl.Series, cells: pl.DataFrame, slots: Ids) -> pl.Series:
    is_empty = (cells["code"].to_numpy()[slots] == ValueKind.EMPTY_LIST) & (slots >= 0)
    if not is_empty.any():
        return filled
    nothing = pl.Series([[]], dtype=filled.dtype)
    return pl.select(pl.when(pl.Series(is_empty)).then(nothing.first()).otherwise(filled)).to_series()


def _nullable(positions: Ids, present: npt.NDArray[np.bool_]) -> pl.Series:
    """Positions to gather at, null where not ``present``."""
    return pl.Series(positions).set(pl.Series(~present), None) if not present.all() else pl.Series(positions)
