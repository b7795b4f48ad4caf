"""Labels and relationship types in detail: properties with type, coverage and samples; ends; example rows.

Computed from the columns of one snapshot when asked; nothing is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.entities import cells
from vaultgraph.errors import ParameterError
from vaultgraph.graph.columns import VARIANT, Column, Gathered, gather
from vaultgraph.graph.graph import Graph, RelationshipTable, ranges_of_label
from vaultgraph.graph.schema import KIND_NAMES, Schema, type_name
from vaultgraph.note.records import ValueKind
from vaultgraph.serve.cells import compact_json, counted, one_line, text_cell
from vaultgraph.serve.overview import endpoint_pairs, shown_name
from vaultgraph.serve.overview_ontology import class_lines, relationship_lines
from vaultgraph.serve.parameters import nearest
from vaultgraph.vault.snapshot import Snapshot

SAMPLES: Final = 3
SAMPLE_CHARS: Final = 40
PAIRS_SHOWN: Final = 10
PROPERTIES_SHOWN: Final = 60
LONG_TEXT: Final = frozenset(("body",))


def types_text(snapshot: Snapshot, labels: Sequence[str]) -> str:
    """The properties, relationships and sample nodes of each label.

    Raises:
        ParameterError: no node has a label; the message names the nearest.
    """
    return "\n\n".join("\n".join(_label_lines(snapshot, label)) for label in labels)


def connections_text(snapshot: Snapshot, types: Sequence[str] | None) -> str:
    """The ends of every relationship type; with ``types`` also their properties and samples.

    Raises:
        ParameterError: an unknown type; the message names the nearest.
    """
    if types is None:
        summaries = (_type_summary(snapshot.schema, name, count) for name, count in snapshot.report.types.items())
        return "\n".join(summaries) or "There are no relationships."
    return "\n\n".join("\n".join(_type_lines(snapshot, name)) for name in types)


def _label_lines(snapshot: Snapshot, label: str) -> Iterator[str]:
    graph = snapshot.graph
    ranges = ranges_of_label(graph, label)
    declared = class_lines(snapshot, label)
    if not ranges and not declared:
        if label in graph.relationships:
            raise _other_argument(label, "a relationship type", "connections")
        raise _unknown("label", label, list(snapshot.report.labels))
    if not ranges:
        yield f"{shown_name(label)}: 0 nodes"
        yield from declared
        return
    ids = np.concatenate([np.arange(first, stop, dtype=np.int64) for first, stop in ranges])
    yield f"{shown_name(label)}: {counted(len(ids), 'node')}"
    yield from declared
    yield "properties (type, share, samples):"
    listed = list(_property_lines(graph.node_columns, ids))
    yield from listed
    out, into = _label_ends(graph, ids)
    yield f"outgoing: {out or 'none'}"
    yield f"incoming: {into or 'none'}"
    keys = [text_cell(key, 100) for key in _keys(graph, ids[:SAMPLES])]
    if not any(line.endswith(f" %: {', '.join(keys)}") for line in listed):
        yield f"samples: {' · '.join(keys)}"


def _label_ends(graph: Graph, ids: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> tuple[str, str]:
    out: list[tuple[int, str]] = []
    into: list[tuple[int, str]] = []
    for table in graph.relationships.values():
        out.append((int(table.outgoing.degrees(ids).sum()), table.type))
        into.append((int(table.incoming.degrees(ids).sum()), table.type))
    return _with_counts(out), _with_counts(into)


def _with_counts(counts: Iterable[tuple[int, str]]) -> str:
    return ", ".join(
        f"{shown_name(name)} {count:,}" for count, name in sorted(counts, key=lambda c: (-c[0], c[1])) if count
    )


def _type_summary(schema: Schema, name: str, count: int) -> str:
    pairs = endpoint_pairs(schema, name)
    shown = ", ".join(
        f"{one_line(source)} → {one_line(target)} {size:,}" for source, target, size in pairs[:PAIRS_SHOWN]
    )
    more = f", +{len(pairs) - PAIRS_SHOWN} more" if len(pairs) > PAIRS_SHOWN else ""
    return f"{shown_name(name)} {count:,}: {shown}{more}"


def _type_lines(snapshot: Snapshot, name: str) -> Iterator[str]:
    graph = snapshot.graph
    declared = relationship_lines(snapshot, name)
    if declared and name not in graph.relationships:
        yield f"{shown_name(name)} 0"
        yield from declared
        return
    table = _table(graph, name)
    yield _type_summary(snapshot.schema, table.type, len(table.sources))
    yield from declared
    rows = np.arange(len(table.sources), dtype=np.int64)
    yield "properties (type, share, samples):"
    yield from _property_lines(table.columns, rows)
    sources = _keys(graph, table.sources[:SAMPLES].astype(np.int64))
    targets = _keys(graph, table.targets[:SAMPLES].astype(np.int64))
    samples: dict[str, list[str]] = {}
    for source, target in zip(sources, targets, strict=True):
        samples.setdefault(text_cell(source, 100), []).append(text_cell(target, 100))
    shown = [f"{source} → {', '.join(ends)}" for source, ends in samples.items()]
    yield f"samples: {' · '.join(shown)}"


def _table(graph: Graph, name: str) -> RelationshipTable:
    table = graph.relationships.get(name)
    if table is None:
        if ranges_of_label(graph, name):
            raise _other_argument(name, "a label", "types")
        raise _unknown("relationship type", name, list(graph.relationships))
    return table


def _property_lines(columns: Mapping[str, Column], ids: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Iterator[str]:
    """One line a property that has a value at any of ``ids``, most covered first."""
    found: list[tuple[int, str, str]] = []
    for name, column in columns.items():
        parts = [Gathered(None, part.series.drop_nulls()) for part in gather(column, ids)]
        if any(part.series.dtype == VARIANT for part in parts):
            parts = [_without_null_kinds(part) for part in parts]
        count = sum(len(part.series) for part in parts)
        if count:
            share = "100" if count == len(ids) else f"{min(99, max(1, round(100 * count / len(ids))))}"
            samples = "" if name in LONG_TEXT else _samples(parts)
            found.append((count, name, f"  {shown_name(name)} {_types(parts)} {share} %{samples}"))
    found.sort(key=lambda item: (-item[0], item[1]))
    yield from (line for _, _, line in found[:PROPERTIES_SHOWN])
    if len(found) > PROPERTIES_SHOWN:
        yield f"  +{len(found) - PROPERTIES_SHOWN} more: " + ", ".join(
            shown_name(name) for _, name, _ in found[PROPERTIES_SHOWN:]
        )


def _without_null_kinds(part: Gathered) -> Gathered:
    if part.series.dtype != VARIANT:
        return part
    return Gathered(None, part.series.filter(part.series.struct.field("kind") > 0))


def _types(parts: Sequence[Gathered]) -> str:
    names: dict[str, None] = {}
    for part in parts:
        if part.series.dtype == VARIANT:
            kinds = part.series.struct.field("kind").unique().sort().to_list()
            names.update(dict.fromkeys(KIND_NAMES[ValueKind(kind)] for kind in kinds))
        elif len(part.series):
            names[type_name(part.series.dtype)] = None
    return " | ".join(names)


def _samples(parts: Sequence[Gathered]) -> str:
    """Up to SAMPLES different values: the most frequent ones; of lists of one type their items."""
    # The series is named after the property, which may be called as any other column here.
    series = max((part.series for part in parts), key=len).alias("value")
    is_list = isinstance(series.dtype, pl.List)
    if is_list:
        series = series.explode().drop_nulls()
    if not len(series):
        return ""
    counts = series.value_counts(sort=True, name="times").sort(["times", "value"], descending=[True, False])
    values = cells(counts["value"].head(SAMPLES))
    return (", items: " if is_list else ": ") + ", ".join(text_cell(value, SAMPLE_CHARS) for value in values)


def _keys(graph: Graph, ids: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> list[str]:
    """Path, else id, of each node; the `path` of a section is a list of headings and none of a file."""
    keys = [""] * len(ids)
    for name in ("id", "path"):
        for part in gather(graph.node_columns.get(name), ids):
            rows = range(len(ids)) if part.rows is None else part.rows
            for row, value in zip(rows, part.series.to_list(), strict=True):
                keys[int(row)] = str(value) if isinstance(value, str | int) else keys[int(row)]
    return keys


def _other_argument(name: str, kind: str, argument: str) -> ParameterError:
    return ParameterError(
        f"{shown_name(name)} is {kind}. Ask for it with {argument}:{one_line(compact_json([name]))}.",
        {"name": name, "reason": "unknown", "nearest": None},
    )


def _unknown(kind: str, name: str, known: Sequence[str]) -> ParameterError:
    close = nearest(name, known)
    advice = f" Did you mean {shown_name(close)}?" if close else ""
    listed = ", ".join(shown_name(other) for other in known[:20]) + (" …" if len(known) > 20 else "")
    return ParameterError(
        f"There is no {kind} {shown_name(name)}.{advice} There are: {listed or 'none'}.",
        {"name": name, "reason": "unknown", "nearest": close},
    )
