"""The records and the graph of a vault as one .kgl file, and back.

Sits between graph/build and vault/: saved after a build, loaded at the next start. Texts that the graph shares with the
records (path, title, body, text of parts) are stored once; short texts that columns share lie side by side (kgl/texts).
Most of it is read when it is first asked for (stored_late). Modification times are not stored: equal input gives
equal bytes on every machine. Nothing in a file is trusted: what does not fit together is refused as damaged, never
half loaded.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

import polars as pl

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError
from vaultgraph.files.stamps import FILE_PROBLEMS, Stamps
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.graph import Graph, NodeGroup
from vaultgraph.graph.stored_columns import EARLY_POOL, ColumnReader, ColumnWriter
from vaultgraph.graph.stored_late import Late, LateReads
from vaultgraph.graph.stored_records import BODIES, EARLY, LateRecords, settle, table_of
from vaultgraph.graph.stored_relationships import late_tables, relationship_sections
from vaultgraph.kgl.arrays import pack_series, text_columns, unpack_series
from vaultgraph.kgl.reader import KglFile, is_replaceable, open_kgl
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Part, Piece, write_sections
from vaultgraph.note.records import RecordTable

MTIME: Final = "mtime"
_CONTENT: Final = "vaultgraph.graph"
_PROBLEMS: Final = "problems"
_TEXTS: Final = "texts"
_LATE_TEXTS: Final = "texts.late"


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
    pause: Callable[[], object] = lambda: None,
) -> int:
    """Write the file in one crash-safe step; returns its length in bytes.

    ``problems`` has the columns of FILE_PROBLEMS. The folder must exist. ``pause`` is called between small steps: it
    may wait while there is something more urgent.

    Raises:
        ForeignKglError: what is there was not written by vaultgraph, or is no regular file; it is left alone.
        KglError: it cannot be written (folder missing, not writable, disk full, a column over 2 GiB).
    """
    if not is_replaceable(path):
        raise ForeignKglError(f"{path}: holds something that vaultgraph did not write; it is left alone.")
    frames = {f"records.{name}": frame for name, frame in records.tables().items()}
    frames[_PROBLEMS] = problems.select(FILE_PROBLEMS.names())
    columns = ColumnWriter(graph, records)
    for key, column in graph.node_columns.items():
        pause()
        if key != MTIME:
            columns.add(-1, key, column)
    for owner, table in enumerate(graph.relationships.values()):
        for key, column in table.columns.items():
            columns.add(owner, key, column)
    series = {f"{name}.{column.name}": column for name, frame in frames.items() for column in frame.iter_columns()}
    body = series.pop(BODIES)
    every = series | columns.pools()
    early = [name for name in every if name in EARLY or name == EARLY_POOL or name.startswith(f"{_PROBLEMS}.")]
    shared = {name: every[name] for name in early} | every
    columns_of_texts = {name: column for key, whole in shared.items() for name, column in text_columns(key, whole)}
    texts = SharedTexts(columns_of_texts, early, pause)
    meta: dict[str, Any] = {
        "content": _CONTENT,
        "version": version,
        "inputs_hash": inputs_hash.hex(),
        "configuration": dict(configuration),
        "counts": dict(counts),
        "rows": {name: frame.height for name, frame in frames.items()},
        "texts": [texts.early, len(texts.texts) - texts.early],
        "node_count": graph.node_count,
        "groups": [[list(group.labels), group.first, group.stop] for group in graph.groups],
        "types": [[table.type, len(table.sources)] for table in graph.relationships.values()],
        "columns": columns.meta(),
    }
    try:
        return write_sections(path, _in_turn(_sections(series, body, texts, graph, columns), pause), meta)
    except OSError as reason:
        raise KglError(f"{path}: cannot be written ({reason.strerror}).") from reason


def load(path: str | os.PathLike[str]) -> Stored:
    """Read a file that ``save`` wrote, all of it but the bodies.

    Raises:
        ForeignKglError: not a file of vaultgraph, or no regular file.
        KglVersionError: another version of the format.
        CorruptKglError: truncated, damaged, or its parts contradict each other.
        KglError: missing or unreadable.
    """
    stored = load_late(path)
    settle(stored.records)
    return stored


def load_late(path: str | os.PathLike[str]) -> Stored:
    """As ``load``, but most of the file is read and checked when it is first asked for.

    Every column, table of the records and relationship of what this gives may then raise CorruptKglError, and
    ``late_fault`` of its records says so from then on.

    Raises:
        ForeignKglError, KglVersionError, CorruptKglError, KglError: as ``load``.
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
    stated = [segment for segment in (paths.segments if paths else ()) if segment.dtype == pl.String()]
    every = pl.concat([pl.Series([], dtype=pl.String), *(segment.series for segment in stated)], rechunk=False)
    found = every.alias("path").to_frame().join(times, on="path", how="left", maintain_order="left")["mtime"]
    segments: list[Segment] = []
    start = 0
    for segment in stated:
        own = found.slice(start, segment.stop - segment.first)
        start += len(own)
        if own.null_count() < len(own):
            segments.append(Segment(segment.first, own))
    columns = {key: column for key, column in graph.node_columns.items() if key != MTIME}
    return replace(graph, node_columns=columns | {MTIME: Column(tuple(segments))} if segments else columns)


def _in_turn(sections: Iterator[tuple[str, Piece]], pause: Callable[[], object]) -> Iterator[tuple[str, Piece]]:
    """The sections, ``pause`` called before each of them and of their parts."""

    def parts(piece: Iterator[Part]) -> Iterator[Part]:
        for part in piece:
            pause()
            yield part

    for name, piece in sections:
        pause()
        yield name, parts(piece) if isinstance(piece, Iterator) else piece


def _sections(
    series: Mapping[str, pl.Series], body: pl.Series, texts: SharedTexts, graph: Graph, columns: ColumnWriter
) -> Iterator[tuple[str, Piece]]:
    yield from pack_series(_TEXTS, texts.texts.head(texts.early))
    yield from pack_series(_LATE_TEXTS, texts.texts.slice(texts.early))
    for name, column in series.items():
        yield from pack_series(name, column, texts)
    yield from relationship_sections(graph)
    yield from columns.sections(texts)
    yield from pack_series(BODIES, body)  # last: what is read at every start lies together


def _load(file: KglFile) -> Stored:
    meta = file.meta
    if meta["content"] != _CONTENT:
        raise _damaged(file, "it holds something else than a graph")
    counts, version, configuration = meta["counts"], meta["version"], meta["configuration"]
    is_text = all(type(text) is str for text in (version, *configuration.values()))
    if not is_text or not all(type(count) is int for count in counts.values()):
        raise _damaged(file, "its description is malformed")
    reads = LateReads(file.path)
    early_rows, late_rows = meta["texts"]
    early = unpack_series(file, _TEXTS, pl.String(), early_rows)
    texts = reads.late(partial(_texts, file, early, late_rows))
    records = LateRecords(file, reads, early, texts)
    return Stored(
        records=records,
        graph=_graph(file, reads, records, (early, texts)),
        problems=table_of(file, _PROBLEMS, FILE_PROBLEMS, lambda: early),
        counts=dict(counts),
        inputs_hash=bytes.fromhex(meta["inputs_hash"]),
        configuration=dict(configuration),
        version=version,
    )


def _texts(file: KglFile, early: pl.Series, late_rows: int) -> pl.Series:
    """All shared texts."""
    return pl.concat([early, unpack_series(file, _LATE_TEXTS, pl.String(), late_rows).alias(early.name)])


def _graph(file: KglFile, reads: LateReads, records: LateRecords, texts: tuple[pl.Series, Late[pl.Series]]) -> Graph:
    meta = file.meta
    node_count = meta["node_count"]
    groups = tuple(NodeGroup(_labels(file, labels), first, stop) for labels, first, stop in meta["groups"])
    _check_groups(file, groups, node_count)
    sizes = [_whole(file, size) for _, size in meta["types"]]
    columns = ColumnReader(file, reads, records, texts, (node_count, sizes))
    by_type = [columns.of(number) for number in range(len(sizes))]
    tables = late_tables(file, reads, node_count, meta["types"], by_type)
    return Graph(node_count, groups, columns.of(-1), tables)


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
