"""Two graphs compared: which nodes, relationships and properties of one the other does not have.

How an export proves itself: what was written is read and built, and held against the source. Nodes are known by path,
others by labels and id, relationships by their ends and type. Whole columns at a time; it writes nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.export.identity import is_text, node_keys, texts_of
from vaultgraph.graph.columns import Column
from vaultgraph.graph.graph import Graph, RelationshipTable

IGNORED: Final = frozenset({"mtime", "size_bytes"})
"""Node properties that are about the file, not about what it says."""
LINE: Final = "line"
_OF_FILES: Final = frozenset({"path", "file_path", "concept_id", "stem", "folder", "body", "id", "title"})
"""Properties that a node has as soon as it is a note."""

_ROWS: Final = pl.Schema(
    {"type": pl.String, "from": pl.String, "to": pl.String, "carried": pl.String, "line": pl.String}
)


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs, each a readable line; ``lines`` counts values of `line` that moved.

    ``lost`` and ``added`` nodes and relationships, ``changed`` properties, and ``given`` ones that only the other
    graph has (of relationships: that none of their type has in the source).
    """

    lost_nodes: list[str]
    added_nodes: list[str]
    changed_nodes: list[str]
    given_nodes: list[str]
    lost_relationships: list[str]
    added_relationships: list[str]
    changed_relationships: list[str]
    given_relationships: list[str]
    lines: int


def differences(source: Graph, other: Graph, paths: Mapping[int, str] | None = None) -> Differences:
    """How ``other`` differs from ``source``; ``paths``: where nodes of ``source`` without a path are looked for."""
    known, found = node_keys(source, paths), node_keys(other)
    pairs = (
        pl.DataFrame({"key": known})
        .with_row_index("source")
        .join(pl.DataFrame({"key": found}).with_row_index("other"), on="key", how="inner", maintain_order="left")
    )
    is_same = known.equals(found)  # then ids mean the same nodes, and most columns are equal as they are
    equal = {kind for kind, table in source.relationships.items() if is_same and _is_equal(table, other, kind)}
    changed, given, node_lines = _changed_nodes(source, other, pairs, is_same=is_same)
    lost, added, altered, lines = _relationships(
        _rows(source, known, equal, source), _rows(other, found, equal, source)
    )
    return Differences(
        lost_nodes=_shown(known.filter(~known.is_in(found.implode()))),
        added_nodes=_shown(found.filter(~found.is_in(known.implode()))),
        changed_nodes=changed,
        given_nodes=given,
        lost_relationships=lost,
        added_relationships=added,
        changed_relationships=altered,
        given_relationships=[
            f"{kind}: {key}"
            for kind, table in other.relationships.items()
            if kind in source.relationships
            for key in sorted(table.columns.keys() - source.relationships[kind].columns.keys())
        ],
        lines=node_lines + lines,
    )


def _changed_nodes(
    source: Graph, other: Graph, pairs: pl.DataFrame, *, is_same: bool
) -> tuple[list[str], list[str], int]:
    """Properties that differ, those only ``other`` has, and how many lines moved."""
    found: list[str] = []
    given: list[str] = []
    lines = 0
    for key in sorted({*source.node_columns, *other.node_columns} - IGNORED):
        columns = source.node_columns.get(key), other.node_columns.get(key)
        if is_same and _is_same_column(*columns):
            continue
        mark = not all(map(is_text, columns))  # long texts are not copied to say that they are texts
        old = texts_of(columns[0], source.node_count, mark=mark).gather(pairs["source"])
        new = texts_of(columns[1], other.node_count, mark=mark).gather(pairs["other"])
        at = old.ne_missing(new)
        if key == LINE:
            lines += int((at & old.is_not_null()).sum())
            continue
        found += [f"{name}: {key}" for name in pairs["key"].filter(at & old.is_not_null())]
        if key not in _OF_FILES:
            given += [f"{name}: {key}" for name in pairs["key"].filter(at & old.is_null())]
    return found, given, lines


def _is_equal(table: RelationshipTable, other: Graph, kind: str) -> bool:
    found = other.relationships.get(kind)
    return (
        found is not None
        and np.array_equal(table.sources, found.sources)
        and np.array_equal(table.targets, found.targets)
        and table.columns.keys() == found.columns.keys()
        and all(_is_same_column(column, found.columns[key]) for key, column in table.columns.items())
    )


def _is_same_column(one: Column | None, other: Column | None) -> bool:
    if one is None or other is None or len(one.segments) != len(other.segments):
        return False
    pairs = zip(one.segments, other.segments, strict=True)
    return all(a.first == b.first and a.series.dtype == b.series.dtype and a.series.equals(b.series) for a, b in pairs)


def _rows(graph: Graph, keys: pl.Series, equal: Collection[str], source: Graph) -> pl.DataFrame:
    """Every relationship of a type that is not in ``equal``: source, type, target, what it carries, its line.

    Properties that no relationship of the type has in ``source`` are left out.
    """
    wanted = {kind: set(table.columns) for kind, table in source.relationships.items()}
    parts = [
        _table_rows(table, keys, wanted.get(kind, set()))
        for kind, table in graph.relationships.items()
        if kind not in equal
    ]
    return pl.concat([_ROWS.to_frame(), *parts])


def _table_rows(table: RelationshipTable, keys: pl.Series, wanted: Collection[str]) -> pl.DataFrame:
    count = len(table.sources)
    carried = [
        pl.concat_str(pl.lit(f"{key}="), texts_of(table.columns[key], count)).fill_null("")
        for key in sorted(table.columns)
        if key != LINE and key in wanted
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
    moved = both.filter(pl.col("line").is_not_null() & pl.col("line").ne_missing(pl.col("line_right"))).height
    return (_arrows(lost), _arrows(added), _arrows(altered), moved)


def _arrows(rows: pl.DataFrame) -> list[str]:
    return [f"{start} -[{kind}]-> {end}" for kind, start, end in rows.select("type", "from", "to").iter_rows()]


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
        "relationship-property-added": found.given_relationships,
    }
    for kind, names in kinds.items():
        yield from ((kind, name) for name in names)
    if found.lines:
        yield "line-moved", f"{found.lines} lines of links, tags and parts"
