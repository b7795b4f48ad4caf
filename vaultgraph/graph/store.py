"""The records and the graph of a vault as one .kgl file, and back.

Sits between graph/build and vault/: saved after a build, loaded at the next start. Texts that the graph shares with the
records (path, title, body, text of parts) are stored once; short texts that columns share lie side by side (kgl/texts).
Bodies stay in the file until they are asked for (stored_bodies). Modification times are not stored: equal input gives
equal bytes on every machine. Nothing in a file is trusted: what does not fit together is refused as damaged, never
half loaded.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import polars as pl

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError
from vaultgraph.files.stamps import FILE_PROBLEMS, Stamps
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.csr import Array32, Csr
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable
from vaultgraph.graph.stored_bodies import BODIES, LateBodies, LateRecords
from vaultgraph.graph.stored_columns import ColumnReader, ColumnWriter, variant_fault
from vaultgraph.graph.stored_pieces import pieces_fault
from vaultgraph.kgl.arrays import pack_series, text_columns, unpack_numbers, unpack_series
from vaultgraph.kgl.reader import KglFile, is_replaceable, open_kgl
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Piece, write_sections
from vaultgraph.note.records import SCHEMAS, LinkSyntax, PieceKind, RecordTable, ValueKind

MTIME: Final = "mtime"
_CONTENT: Final = "vaultgraph.graph"
_TEXTS: Final = "texts"
# What readers of records turn into numpy arrays or compare without asking for nulls.
_NEVER_NULL: Final = {
    "notes": ("path", "hash", "size_bytes", "is_canvas", "is_skipped"),
    "properties": ("note", "key", "ordinal", "kind"),
    "links": ("note", "syntax", "is_embed", "target"),
    "tags": ("note", "tag", "is_inline"),
    "headings": ("note", "level", "text"),
    "blocks": ("note", "id"),
    "pieces": ("note", "line", "kind", "fragment", "parent", "section", "ordinal"),
    "cells": ("note", "piece", "key", "text"),
    "problems": ("note", "code", "severity", "message"),
}
_STATED: Final = tuple(kind for kind in ValueKind if kind <= ValueKind.JSON)  # by notes; queries make the others
_CODES: Final = (("properties", "kind", _STATED), ("links", "syntax", LinkSyntax), ("pieces", "kind", PieceKind))


@frozen
class Stored:
    """What a file holds.

    ``problems``: FILE_PROBLEMS; ``inputs_hash``: as it was saved, the caller's mark of what the graph was built from
    beside the notes; ``configuration``: the text of the configuration files by path; ``version``: of the vaultgraph
    that wrote it. The graph has no `mtime` column (``with_mtimes``).
    """

    records: RecordTable
    graph: Graph
    problems: pl.DataFrame
    counts: dict[str, int]
    inputs_hash: bytes
    configuration: dict[str, str]
    version: str


def save(
    path: str | os.PathLike[str],
    *,
    records: RecordTable,
    graph: Graph,
    problems: pl.DataFrame,
    counts: Mapping[str, int],
    inputs_hash: bytes,
    configuration: Mapping[str, str],
    version: str,
) -> int:
    """Write the file in one crash-safe step; returns its length in bytes.

    ``problems`` has the columns of FILE_PROBLEMS. The folder must exist.

    Raises:
        ForeignKglError: what is there was not written by vaultgraph, or is no regular file; it is left alone.
        KglError: it cannot be written (folder missing, not writable, disk full, a column over 2 GiB).
    """
    if not is_replaceable(path):
        raise ForeignKglError(f"{path}: holds something that vaultgraph did not write; it is left alone.")
    frames = {"problems": problems.select(FILE_PROBLEMS.names())}
    frames |= {f"records.{name}": frame for name, frame in records.tables().items()}
    columns = ColumnWriter(graph, records)
    for key, column in graph.node_columns.items():
        if key != MTIME:
            columns.add(-1, key, column)
    for owner, table in enumerate(graph.relationships.values()):
        for key, column in table.columns.items():
            columns.add(owner, key, column)
    series = {f"{name}.{column.name}": column for name, frame in frames.items() for column in frame.iter_columns()}
    body = series.pop(BODIES)
    shared = [*series.items(), *columns.pools().items()]
    texts = SharedTexts({name: column for key, whole in shared for name, column in text_columns(key, whole)})
    meta: dict[str, Any] = {
        "content": _CONTENT,
        "version": version,
        "inputs_hash": inputs_hash.hex(),
        "configuration": dict(configuration),
        "counts": dict(counts),
        "rows": {name: frame.height for name, frame in frames.items()},
        "texts": len(texts.texts),
        "node_count": graph.node_count,
        "groups": [[list(group.labels), group.first, group.stop] for group in graph.groups],
        "types": [[table.type, len(table.sources)] for table in graph.relationships.values()],
        "columns": columns.meta(),
    }
    try:
        return write_sections(path, _sections(series, body, texts, graph, columns), meta)
    except OSError as reason:
        raise KglError(f"{path}: cannot be written ({reason.strerror}).") from reason


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a file that ``save`` wrote.

    Raises:
        ForeignKglError: not a file of vaultgraph, or no regular file.
        KglVersionError: another version of the format.
        CorruptKglError: truncated, damaged, or its parts contradict each other.
        KglError: missing or unreadable.
    """
    file = open_kgl(path)
    try:
        return _load(file)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as reason:
        # Only meta can cause these: it is JSON of any shape, taken apart without asking at every step.
        raise CorruptKglError(f"{file.path}: damaged (its description is malformed).") from reason


def with_mtimes(graph: Graph, stamps: Stamps) -> Graph:
    """``graph`` with the node column `mtime`: Datetime("us", "UTC") of each node whose `path` is in ``stamps``."""
    paths = graph.node_columns.get("path")
    times = stamps.files.select("path", mtime=(pl.col("mtime_ns") // 1000).cast(pl.Datetime("us", "UTC")))
    segments: list[Segment] = []
    for segment in paths.segments if paths else ():
        if segment.series.dtype != pl.String():
            continue
        asked = segment.series.rename("path").to_frame()
        found = asked.join(times, on="path", how="left", maintain_order="left")["mtime"]
        if found.null_count() < len(found):
            segments.append(Segment(segment.first, found))
    columns = {key: column for key, column in graph.node_columns.items() if key != MTIME}
    return replace(graph, node_columns=columns | {MTIME: Column(tuple(segments))} if segments else columns)


def _sections(
    series: Mapping[str, pl.Series], body: pl.Series, texts: SharedTexts, graph: Graph, columns: ColumnWriter
) -> Iterator[tuple[str, Piece]]:
    yield from pack_series(_TEXTS, texts.texts)
    for name, column in series.items():
        yield from pack_series(name, column, texts)
    tables = list(graph.relationships.values())
    yield "relationships.sources", _joined([table.sources for table in tables])
    yield "relationships.targets", _joined([table.targets for table in tables])
    # The order by target is stored: checking it costs a tenth of sorting again. Everything else of both CSRs is a
    # running count, cheaper to make than to check.
    yield "relationships.incoming", _joined([table.incoming.rows for table in tables])
    yield from columns.sections(texts)
    yield from pack_series(BODIES, body)  # last: what is read at every start lies together


def _joined(arrays: list[Array32]) -> Array32:
    return np.concatenate(arrays).astype("<u4", copy=False) if arrays else np.zeros(0, dtype="<u4")


def _load(file: KglFile) -> Stored:
    meta = file.meta
    if meta["content"] != _CONTENT:
        raise _damaged(file, "it holds something else than a graph")
    counts, version, configuration = meta["counts"], meta["version"], meta["configuration"]
    is_text = all(type(text) is str for text in (version, *configuration.values()))
    if not is_text or not all(type(count) is int for count in counts.values()):
        raise _damaged(file, "its description is malformed")
    texts = unpack_series(file, _TEXTS, pl.String(), meta["texts"])
    frames = {name: _frame(file, f"records.{name}", schema, texts) for name, schema in SCHEMAS.items()}
    records = LateRecords(frames, LateBodies(file, frames["notes"].height))
    _check_records(file, records, frames)
    return Stored(
        records=records,
        graph=_graph(file, records, texts),
        problems=_frame(file, "problems", FILE_PROBLEMS, texts),
        counts=dict(counts),
        inputs_hash=bytes.fromhex(meta["inputs_hash"]),
        configuration=dict(configuration),
        version=version,
    )


def _frame(file: KglFile, name: str, schema: pl.Schema, texts: pl.Series) -> pl.DataFrame:
    """A frame of the records, or the problems; without the bodies."""
    rows = file.meta["rows"][name]
    columns = [(key, f"{name}.{key}", dtype) for key, dtype in schema.items()]
    return pl.DataFrame(
        [unpack_series(file, at, dtype, rows, texts).alias(key) for key, at, dtype in columns if at != BODIES]
    )


def _check_records(file: KglFile, records: RecordTable, tables: Mapping[str, pl.DataFrame]) -> None:
    for name, keys in _NEVER_NULL.items():
        for key in keys:
            if tables[name][key].null_count():
                raise _damaged(file, f"nulls in {name}.{key}")
    paths = tables["notes"]["path"]
    if not bool((paths.slice(1) > paths.head(max(len(paths) - 1, 0))).all()):
        raise _damaged(file, "the notes are not sorted by path")
    for name, frame in tables.items():
        if name == "notes" or not frame.height:
            continue
        notes = frame["note"].to_numpy()
        if int(notes[-1]) >= len(paths) or bool((notes[1:] < notes[:-1]).any()):
            raise _damaged(file, f"{name} names notes that are not there")
    cells = tables["properties"]
    if fault := variant_fault(cells["kind"], cells["number"], cells["text"]):
        raise _damaged(file, f"the records' properties table {fault}")
    for name, key, kind in _CODES:
        values = tables[name][key].to_numpy()
        if len(values) and not min(kind) <= values.min() <= values.max() <= max(kind):
            raise _damaged(file, f"unknown codes in {name}.{key}")
    if fault := pieces_fault(records):
        raise _damaged(file, fault)


def _graph(file: KglFile, records: LateRecords, texts: pl.Series) -> Graph:
    meta = file.meta
    node_count = meta["node_count"]
    groups = tuple(NodeGroup(_labels(file, labels), first, stop) for labels, first, stop in meta["groups"])
    _check_groups(file, groups, node_count)
    total = sum(_whole(file, count) for _, count in meta["types"])
    sources = unpack_numbers(file, "relationships.sources", "<u4", total)
    targets = unpack_numbers(file, "relationships.targets", "<u4", total)
    incoming = unpack_numbers(file, "relationships.incoming", "<u4", total)
    if total and max(int(sources.max()), int(targets.max())) >= node_count:
        raise _damaged(file, "a relationship leads to no node")
    columns = ColumnReader(file, records, texts, node_count, [count for _, count in meta["types"]])
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for owner, (kind, count) in enumerate(meta["types"]):
        part = slice(first, first + count)
        if type(kind) is not str or kind in tables:
            raise _damaged(file, "a relationship type is named twice")
        tables[kind] = _table(file, kind, first, (sources[part], targets[part], incoming[part]), columns.of(owner))
        first += count
    return Graph(node_count, groups, columns.of(-1), tables)


def _table(
    file: KglFile, kind: str, first: int, ends: tuple[Array32, Array32, Array32], columns: Mapping[str, Column]
) -> RelationshipTable:
    """One type from its end nodes and its row order by target, both orders checked."""
    sources, targets, rows = ends
    _check_order(file, kind, sources, targets)
    if len(rows) and int(rows.max()) >= len(rows):
        raise _damaged(file, f"the order of {kind} names rows that are not there")
    from_ids, to_ids = targets[rows], sources[rows]
    _check_order(file, kind, from_ids, to_ids, rows)
    plain = np.arange(len(rows), dtype=np.uint32)
    return RelationshipTable(
        kind, first, sources, targets, _csr(sources, targets, plain), _csr(from_ids, to_ids, rows), columns
    )


def _check_order(file: KglFile, kind: str, major: Array32, minor: Array32, rows: Array32 | None = None) -> None:
    """Sorted by (major, minor); with ``rows`` ties rise by row, so that no row can occur twice."""
    key = (major.astype(np.uint64) << np.uint64(32)) | minor
    right = (
        key[1:] >= key[:-1] if rows is None else (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & (rows[1:] > rows[:-1]))
    )
    if not bool(right.all()):
        raise _damaged(file, f"the relationships {kind} are not sorted")


def _csr(from_ids: Array32, to_ids: Array32, rows: Array32) -> Csr:
    """As ``csr.build_csr`` makes it, from relationships that are sorted already."""
    if not len(from_ids):
        empty = np.zeros(0, dtype=np.uint32)
        return Csr(0, np.zeros(1, dtype=np.uint32), empty, empty)
    first = int(from_ids[0])
    counts = np.bincount(from_ids.astype(np.int64) - first)
    offsets = np.zeros(len(counts) + 1, dtype=np.uint32)
    np.cumsum(counts, out=offsets[1:])
    return Csr(first, offsets, to_ids, rows)


def _labels(file: KglFile, labels: Any) -> tuple[str, ...]:
    if not all(type(label) is str for label in labels):
        raise _damaged(file, "a label is no text")
    return tuple(labels)


def _check_groups(file: KglFile, groups: tuple[NodeGroup, ...], node_count: int) -> None:
    stop = 0
    for group in groups:
        if group.first != stop or _whole(file, group.stop) < stop:
            raise _damaged(file, "its node groups do not follow each other")
        stop = group.stop
    if stop != _whole(file, node_count) or node_count > 2**32 - 2:
        raise _damaged(file, "its node groups do not cover the nodes")


def _whole(file: KglFile, number: Any) -> int:
    if type(number) is not int or number < 0:
        raise _damaged(file, "a count is no whole number")
    return number


def _damaged(file: KglFile, what: str) -> CorruptKglError:
    return CorruptKglError(f"{file.path}: damaged ({what}).")
