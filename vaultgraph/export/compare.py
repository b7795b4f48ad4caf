"""Two graphs compared: which nodes, relationships and properties of one the other does not have.

How an export proves itself: what was written is read and built, and held against the source. Nodes are known by path,
others by labels and id, relationships by their ends and type. Whole columns at a time; it writes nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.note.records import ValueKind

IGNORED: Final = frozenset({"mtime", "size_bytes"})
"""Node properties that are about the file, not about what it says."""
LINE: Final = "line"
_OF_FILES: Final = frozenset({"path", "file_path", "concept_id", "stem", "folder", "body", "id", "title"})
"""Properties that a node has as soon as it is a note."""

_ROWS: Final = pl.Schema(
    {"type": pl.String, "from": pl.String, "to": pl.String, "carried": pl.String, "line": pl.String}
)
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


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs, each a readable line. ``lines`` counts values of `line` that moved; ``lost`` and ``added`` nodes
    and relationships, ``changed`` properties, ``given`` properties that only the other graph has."""

    lost_nodes: list[str]
    added_nodes: list[str]
    changed_nodes: list[str]
    given_nodes: list[str]
    lost_relationships: list[str]
    added_relationships: list[str]
    changed_relationships: list[str]
    lines: int


def differences(source: Graph, other: Graph, paths: Mapping[int, str] | None = None) -> Differences:
    """How ``other`` differs from ``source``; ``paths``: where nodes of ``source`` without a path are looked for."""
    known, found = node_keys(source, paths), node_keys(other)
    pairs = (
        pl.DataFrame({"key": known})
        .with_row_index("source")
        .join(pl.DataFrame({"key": found}).with_row_index("other"), on="key", how="inner", maintain_order="left")
    )
    changed, given, node_lines = _changed_nodes(source, other, pairs)
    lost, added, altered, lines = _relationships(_rows(source, known), _rows(other, found))
    return Differences(
        lost_nodes=_shown(known.filter(~known.is_in(found.implode()))),
        added_nodes=_shown(found.filter(~found.is_in(known.implode()))),
        changed_nodes=changed,
        given_nodes=given,
        lost_relationships=lost,
        added_relationships=added,
        changed_relationships=altered,
        lines=node_lines + lines,
    )


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


def texts_of(column: Column | None, count: int) -> pl.Series:
    """The cells of ids 0 … ``count - 1`` as texts that are equal where type and value are; null where there is none."""
    pieces: list[pl.Series] = []
    at = 0
    for segment in column.segments if column else ():
        pieces += [_nulls(segment.first - at), _cell_texts(segment.series)]
        at = segment.stop
    return pl.concat([*pieces, _nulls(count - at)])


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
    text = pl.lit(None, pl.String)
    for code, (mark, name) in _VARIANT_MARKS.items():
        value = pl.concat_str(pl.lit(mark), cell.struct.field(name).cast(pl.String)) if name else pl.lit(mark)
        text = pl.when(kind == code).then(value).otherwise(text)
    return text


def _changed_nodes(source: Graph, other: Graph, pairs: pl.DataFrame) -> tuple[list[str], list[str], int]:
    """Properties that differ, those only ``other`` has, and how many lines moved."""
    found: list[str] = []
    given: list[str] = []
    lines = 0
    for key in sorted({*source.node_columns, *other.node_columns} - IGNORED):
        old = texts_of(source.node_columns.get(key), source.node_count).gather(pairs["source"])
        new = texts_of(other.node_columns.get(key), other.node_count).gather(pairs["other"])
        at = old.ne_missing(new)
        if key == LINE:
            lines += int(at.sum())
            continue
        found += [f"{name}: {key}" for name in pairs["key"].filter(at & old.is_not_null())]
        if key not in _OF_FILES:
            given += [f"{name}: {key}" for name in pairs["key"].filter(at & old.is_null())]
    return found, given, lines


def _rows(graph: Graph, keys: pl.Series) -> pl.DataFrame:
    """Every relationship: source, type, target, what it carries but for the line, the line."""
    parts = [_table_rows(table, keys) for table in graph.relationships.values()]
    return pl.concat([_ROWS.to_frame(), *parts])


def _table_rows(table: RelationshipTable, keys: pl.Series) -> pl.DataFrame:
    count = len(table.sources)
    carried = [
        pl.concat_str(pl.lit(f"{key}="), texts_of(table.columns[key], count)).fill_null("")
        for key in sorted(table.columns)
        if key != LINE
    ]
    return pl.select(
        pl.repeat(table.type, count, dtype=pl.String).alias("type"),
        keys.gather(table.sources).alias("from"),
        keys.gather(table.targets).alias("to"),
        (pl.concat_str(carried, separator="\x1e") if carried else pl.repeat("", count)).alias("carried"),
        texts_of(table.columns.get(LINE), count).alias("line"),
    ).with_columns(pl.col("carried").str.replace_all("\x1e+", "\x1e").str.strip_chars("\x1e"))


def _relationships(old: pl.DataFrame, new: pl.DataFrame) -> tuple[list[str], list[str], list[str], int]:
    """What only the one has, what only the other has, what carries something else, and how many lines moved."""
    ends = ["type", "from", "to"]
    whole = [*ends, "carried"]
    old, new = (frame.with_columns(n=pl.int_range(pl.len()).over(whole)) for frame in (old, new))
    only_old = old.join(new, on=[*whole, "n"], how="anti", maintain_order="left")
    only_new = new.join(old, on=[*whole, "n"], how="anti", maintain_order="left")
    lost = only_old.join(only_new, on=ends, how="anti", maintain_order="left")
    added = only_new.join(only_old, on=ends, how="anti", maintain_order="left")
    altered = only_old.join(only_new, on=ends, how="semi", maintain_order="left")
    both = old.join(new, on=[*whole, "n"], how="inner")
    moved = both.filter(pl.col("line").ne_missing(pl.col("line_right"))).height
    return (_arrows(lost), _arrows(added), _arrows(altered), moved)


def _arrows(rows: pl.DataFrame) -> list[str]:
    return [f"{start} -[{kind}]-> {end}" for kind, start, end in rows.select("type", "from", "to").iter_rows()]


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


def _shown(names: Iterable[str]) -> list[str]:
    return list(names)


def as_losses(found: Differences) -> Iterator[tuple[str, str]]:
    """(kind, what) of each difference, moved lines as one."""
    kinds: Mapping[str, list[str]] = {
        "node-lost": found.lost_nodes,
        "node-added": found.added_nodes,
        "property-differs": found.changed_nodes,
        "property-added": found.given_nodes,
        "relationship-lost": found.lost_relationships,
        "relationship-added": found.added_relationships,
        "relationship-property-differs": found.changed_relationships,
    }
    for kind, names in kinds.items():
        yield from ((kind, name) for name in names)
    if found.lines:
        yield "line-moved", f"{found.lines} lines of links, tags and parts"
