"""Nodes and their properties brought up to an edit: which come and go, and the columns that differ.

Part of graph/patch. Notes neither come nor go and keep their order; media, concepts, web addresses and shared nodes,
which exist by being named, may.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.files.stamps import Stamps
from vaultgraph.graph.build import (
    BUILT_IN,
    by_file,
    merged_columns,
    stated_properties,
    text_segment,
    with_file,
    with_nodes,
)
from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.links import LinkRows
from vaultgraph.graph.nodes import Numbering, image_texts, segments_about
from vaultgraph.graph.properties import WIDEST, property_segments
from vaultgraph.graph.stored_late import LateSegment
from vaultgraph.graph.stored_records import LateRecords
from vaultgraph.graph.texts import NONE, columns_of, numbers_of, rows_at, taken
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile

Segments = Mapping[str, list[Segment]]

_OF_NOTES: Final = ("id", "title", "path", "file_path", "concept_id", "stem", "folder", "body", "size_bytes")
_ABOUT: Final = {
    "path": "file_path",
    "stem": "stem",
    "folder": "folder",
    "size_bytes": "size_bytes",
    "id": "concept_id",
    "title": "title",
}  # what notes are told by, and the column whose first segment starts with that
_SHADOWED: Final = "frontmatter."
_MOST_TIMES: Final = 32  # of files; finding more nodes one by one takes longer than all at once


def with_texts(graph: Graph, ground: Ground, records: RecordTable, changed: tuple[Ids, list[int]]) -> dict[str, Column]:
    """The node columns with other bodies, sizes and titles of ``changed`` notes: nodes, and rows in ``records``."""
    nodes, rows = changed
    body = graph.node_columns["body"]
    first, *others = body.segments
    is_whole = not others and (first.first, first.stop) == (0, len(ground.numbering.notes))
    if is_whole and isinstance(first, LateSegment) and not first.is_read and isinstance(records, LateRecords):
        bodies = Column((first.loading(partial(_bodies, records, ground)),))
    else:
        bodies = _with_values(body, nodes, records.bodies(rows))
    about = records.listing[rows]
    others = {
        key: _with_values(graph.node_columns[key], nodes, about[key].to_list()) for key in ("size_bytes", "title")
    }
    return {**graph.node_columns, "body": bodies, **others}


def _bodies(records: RecordTable, ground: Ground) -> pl.Series:
    """The bodies of notes by node."""
    return taken(by_file(records.notes["body"].rechunk(), ground.catalogue), ground.numbering.notes)


def _with_values(column: Column, ids: Ids, values: Sequence[object]) -> Column:
    """The column with other values for some ids, all of which its first segment holds."""
    segment, *others = column.segments
    rows = np.arange(len(segment.series), dtype=np.uint32)
    rows[ids - segment.first] = len(segment.series) + np.arange(len(ids))
    fresh = pl.Series(segment.series.name, values, dtype=segment.series.dtype)
    return Column((Segment(segment.first, pl.concat([segment.series, fresh]).rechunk()[rows]), *others))


def moved_ids(old: Numbering, new: Numbering) -> Ids | None:
    """``int64[nodes before]``: the new id of each node, -1 for one that is gone; None where all stay.

    Not always ascending: a missing file is placed by the first spelling of its name, which an edit may change."""
    if old is new:
        return None
    count = len(new.notes)
    parts = [
        np.arange(count),
        _positions(old.media, new.media, ("file", "key"), count),
        _positions(old.named, new.named, ("space", "key"), count + new.media.height),
    ]
    moved = np.concatenate(parts).astype(np.int64)
    is_as_before = old.node_count == new.node_count and np.array_equal(moved, np.arange(old.node_count))
    return None if is_as_before else moved


def _positions(known: pl.DataFrame, fresh: pl.DataFrame, key: tuple[str, str], first: int) -> Ids:
    """The new id of each ``known`` row by its ``key``, -1 for one that is gone; ``fresh`` ones start at ``first``."""
    if known is fresh:
        return np.arange(known.height) + first
    old, new = columns_of(known, *key), columns_of(fresh, *key)
    # Rows before and after the place where one came or went only need to be counted.
    size = min(old.height, new.height)
    head = int(np.argmax(np.append(_differs(old[:size], new[:size]), True)))
    tail = int(np.argmax(np.append(_differs(old[-size:], new[-size:])[::-1], True))) if size else 0
    tail = min(tail, size - head)
    at = np.full(old.height, NONE, dtype=np.int64)
    at[:head] = np.arange(head)
    at[old.height - tail :] = np.arange(new.height - tail, new.height)
    between = old[head : old.height - tail]
    if between.height and head + tail < new.height:
        others = new[head : new.height - tail].with_row_index("at", head)
        found = between.join(others, on=old.columns, how="left", maintain_order="left", nulls_equal=True)["at"]
        at[head : old.height - tail] = numbers_of(found)
    return np.where(at >= 0, at + first, NONE)


def _differs(one: pl.DataFrame, other: pl.DataFrame) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which rows of two frames with the same columns, and as many rows, are not the same."""
    differs = np.zeros(one.height, dtype=np.bool_)
    for own, others in zip(one.iter_columns(), other.iter_columns(), strict=True):  # row loop: the columns, two
        differs |= own.ne_missing(others).to_numpy()
    return differs


def node_columns(
    graph: Graph,
    known: Ground,
    ground: Ground,
    records: RecordTable,
    changed: Segments,
    *,
    has_new_images: bool,
) -> Mapping[str, Column]:
    """The columns of all nodes. ``graph`` and ``known`` are from before, ``ground`` is from after the edit.

    ``graph`` has the bodies and sizes of after it. ``changed``: the segments of those frontmatter properties that
    differ, an empty list for one that is gone. ``has_new_images``: whether links to images differ.
    """
    count = len(ground.numbering.notes)
    stated: dict[str, list[Segment]] = {
        key: [segment for segment in column.segments if segment.first < count]
        for key, column in graph.node_columns.items()
        if key not in _OF_NOTES
    }
    beside = {
        key: [segment for segment in column.segments if segment.first >= count or key in _OF_NOTES]
        for key, column in graph.node_columns.items()
    }
    texts = {"text": beside.pop("text", [])}
    numbering = ground.numbering
    if known.numbering is not numbering:
        about = {key: beside[name][0].series for key, name in _ABOUT.items()}
        beside = {
            **segments_about(numbering, {key: cells[:count] for key, cells in about.items()}),
            "body": beside["body"],
        }
    if has_new_images or known.numbering.media is not numbering.media:
        titles = by_file(records.listing["title"], ground.catalogue)
        links = LinkRows(ground.elsewhere, ground.elsewhere)
        texts = text_segment(image_texts(links, titles, numbering.of_file, numbering.of_key))
    return merged_columns([{**stated, **changed}, beside, texts])


def changed_mtimes(times: Column, graphs: tuple[Graph, Graph], stamps: tuple[Stamps, Stamps]) -> Column | None:
    """The column `mtime` of after an edit, from that of before; None where it is to be made anew.

    ``graphs`` and ``stamps`` are those of before and after; the stamps are of the same files.
    """
    paths, after = (graph.node_columns["path"].segments for graph in graphs)
    was, now = (each.files["mtime_ns"].to_numpy() for each in stamps)
    rows = np.flatnonzero(was != now)
    is_same = len(paths) == len(after) and all(
        one.first == other.first and (one.series is other.series or one.series.equals(other.series))
        for one, other in zip(paths, after, strict=True)
    )
    if not is_same or len(rows) > _MOST_TIMES:
        return None
    segments = list(times.segments)
    for path, time_ns in rows_at(columns_of(stamps[1].files, "path", "mtime_ns"), rows).iter_rows():
        # row loop: the files that were written
        for at, segment in enumerate(segments):
            own = next(found.series for found in paths if found.first == segment.first)
            nodes = (own == path).arg_true()
            if len(nodes):
                series = segment.series.to_physical().clone().scatter(nodes, time_ns // 1000).cast(segment.series.dtype)
                segments[at] = Segment(segment.first, series)
    return Column(tuple(segments))


def changed_properties(
    before: pl.DataFrame, after: pl.DataFrame, records: RecordTable, ground: Ground, profile: Profile
) -> dict[str, list[Segment]]:
    """The segments of the properties of which the changed notes state something else; only of a narrow graph.

    ``before`` and ``after``: the property rows of those notes, ``records`` those of all.
    """
    if before.equals(after):
        return {}
    stated_before, stated_after = (_by_key(rows) for rows in (before, after))
    keys = {key for key in stated_before | stated_after if stated_before.get(key) != stated_after.get(key)}
    if not keys:
        return {}
    bare = {key.removeprefix(_SHADOWED) for key in keys}
    shown = {key if key not in BUILT_IN else f"{_SHADOWED}{key}" for key in keys}
    asked = [*keys, *(f"{_SHADOWED}{key}" for key in bare & {*BUILT_IN}), *(bare & {*BUILT_IN})]
    rows = with_file(records.properties.filter(pl.col("key").is_in(asked)), ground.catalogue)
    stated, _ = stated_properties(rows, ground.labels, ground.catalogue.files["path"], profile)
    segments = property_segments(with_nodes(stated, ground.numbering), ground.numbering.groups)
    return {key: [] for key in shown} | segments


def is_narrow(graph: Graph) -> bool:
    """Whether the segments of each property stand for themselves, with room for an edit."""
    return (
        sum(segment.stop - segment.first for column in graph.node_columns.values() for segment in column.segments)
        < WIDEST
    )


def _by_key(rows: pl.DataFrame) -> dict[str, list[tuple[object, ...]]]:
    """What is stated under each key, without lines."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for key, *cell in rows.select("key", "note", "ordinal", "kind", "number", "real", "text").iter_rows():
        found.setdefault(key, []).append(tuple(cell))  # row loop: what the changed notes state
    return found
