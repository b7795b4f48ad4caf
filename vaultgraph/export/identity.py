"""What names a node or a relationship in every generation, and cells as texts that can be compared.

Node ids are positions in one graph; an export compares graphs that were built apart. Used by `compare` and `vault`.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.note.records import ValueKind

_VARIANT_MARKS: Final = {
    ValueKind.TEXT: ("s", "text"),
    ValueKind.INTEGER: ("i", "number"),
    ValueKind.FLOAT: ("f", "real"),
    ValueKind.BOOLEAN: ("b", "number"),
    ValueKind.DATE: ("d", "number"),
    ValueKind.LOCAL_DATETIME: ("l", "number"),
    ValueKind.UTC_DATETIME: ("z", "number"),
    ValueKind.EMPTY_LIST: ("[", None),
    ValueKind.JSON: ("j", "text"),
}


def node_keys(graph: Graph, paths: Mapping[int, str] | None = None) -> pl.Series:
    """For each node, in order of ids, what names it in every generation: its path, else its labels and id.

    Labels count either way. Several nodes of one name are told apart by a number. ``paths``: by node id, in place of
    the node's own.
    """
    labels = pl.Series(
        [":".join(sorted(group.labels)) for group in graph.groups for _ in range(group.stop - group.first)],
        dtype=pl.String,
    )
    own = texts_of(graph.node_columns.get("path"), graph.node_count)
    if paths:
        own = own.scatter(list(paths), [f"s{path}" for path in paths.values()])
    rows = pl.DataFrame(
        {
            "labels": labels,
            "path": own,
            "id": texts_of(graph.node_columns.get("id"), graph.node_count),
        }
    )
    name = pl.coalesce(pl.col("path").str.slice(1), pl.col("id").str.slice(1), pl.lit(""))
    keyed = rows.select(key=pl.format("{}  ({})", name, "labels"))
    again = pl.int_range(pl.len()).over("key")
    return keyed.select(pl.when(again > 0).then(pl.format("{} ~{}", "key", again)).otherwise("key"))["key"]


def missing_triples(source: Graph, paths: Mapping[int, str], *others: Graph) -> pl.DataFrame:
    """Relationships of ``source`` that none of ``others`` has between the same nodes: type, source, target (node ids),
    row (in the table of the type); in order of type and row. ``paths`` as for ``node_keys``."""
    rows = _triples(source, node_keys(source, paths))
    for other in others:
        rows = rows.join(
            _triples(other, node_keys(other)),
            on=["type", "source_key", "target_key"],
            how="anti",
            maintain_order="left",
        )
    return rows.select("type", "source", "target", "row")


def texts_of(column: Column | None, count: int, *, mark: bool = True) -> pl.Series:
    """The cells of ids 0 … ``count - 1`` as texts that are equal where type and value are; null where there is none.

    ``mark`` False, for columns that are texts only: without the letter that says so.
    """
    pieces: list[pl.Series] = []
    at = 0
    for segment in column.segments if column else ():
        cells = _cell_texts(segment.series) if mark else segment.series.alias("")
        pieces += [_nulls(segment.first - at), cells]
        at = segment.stop
    return pl.concat([*pieces, _nulls(count - at)])


def is_text(column: Column | None) -> bool:
    """Whether all cells are texts."""
    return column is None or all(segment.series.dtype == pl.String() for segment in column.segments)


def _nulls(count: int) -> pl.Series:
    return pl.Series("", [None], dtype=pl.String).new_from_index(0, count)


def _cell_texts(series: pl.Series) -> pl.Series:
    frame = series.alias("v").to_frame()
    if series.dtype == VARIANT:
        return frame.select(_variant(pl.col("v")).alias(""))[""]
    if isinstance(series.dtype, pl.List):
        items = pl.col("v").list.eval(_typed(series.dtype.inner, pl.element()))
        whole = pl.format("[{}", items.list.join("\x1f"))
        return frame.select(pl.when(pl.col("v").is_not_null()).then(whole).alias(""))[""]
    return frame.select(_typed(series.dtype, pl.col("v")).alias(""))[""]


def _typed(dtype: object, value: pl.Expr) -> pl.Expr:
    mark = {pl.String(): "s", pl.Int64(): "i", pl.Float64(): "f", pl.Boolean(): "b", pl.Date(): "d"}.get(dtype)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if mark in {"b", "d"}:
        value = value.cast(pl.Int32).cast(pl.Int64)
    elif mark is None:
        mark = "z" if isinstance(dtype, pl.Datetime) and dtype.time_zone else "l"
        value = value.cast(pl.Int64)
    return pl.concat_str(pl.lit(mark), value.cast(pl.String))


def _variant(cell: pl.Expr) -> pl.Expr:
    kind = cell.struct.field("kind")
    written = pl.format("{}:{}", kind, cell.struct.field("text"))  # the kinds that queries make
    text = pl.when(kind > ValueKind.JSON.value).then(written)
    for code, (mark, name) in _VARIANT_MARKS.items():
        value = pl.concat_str(pl.lit(mark), cell.struct.field(name).cast(pl.String)) if name else pl.lit(mark)
        text = pl.when(kind == code).then(value).otherwise(text)
    return text


def _triples(graph: Graph, keys: pl.Series) -> pl.DataFrame:
    empty = pl.DataFrame(
        schema={"type": pl.String, "source": pl.UInt32, "target": pl.UInt32, "row": pl.Int64,
                "source_key": pl.String, "target_key": pl.String}
    )  # fmt: skip
    return pl.concat([empty, *(_table_triples(table, keys) for table in graph.relationships.values())])


def _table_triples(table: RelationshipTable, keys: pl.Series) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "type": pl.repeat(table.type, len(table.sources), dtype=pl.String, eager=True),
            "source": np.asarray(table.sources, dtype=np.uint32),
            "target": np.asarray(table.targets, dtype=np.uint32),
            "row": np.arange(len(table.sources), dtype=np.int64),
            "source_key": keys.gather(table.sources),
            "target_key": keys.gather(table.targets),
        }
    )
