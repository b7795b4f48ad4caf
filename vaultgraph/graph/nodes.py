"""Nodes: which there are, in which order they get their ids, and their built-in properties.

Notes come first, by label and path, then files, folders, and what exists only by being named. Node ids are positions in
that order. Frontmatter is properties.py's; relationships only see the numbering.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids, Segment
from vaultgraph.graph.folders import Folders
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.links import Destination, LinkRows
from vaultgraph.graph.media import labels_of_kind, media_of
from vaultgraph.graph.names import last_part, without_md
from vaultgraph.graph.shared import Shared
from vaultgraph.graph.texts import (
    NONE,
    Texts,
    columns_of,
    first_of,
    joined,
    numbers_of,
    or_null,
    order_by,
    rows_at,
    taken,
    true_or_null,
)
from vaultgraph.profile.settings import Profile

_LOST: Final = ("key", "name")  # what nodes that exist by being named are made of
_SPACES: Final = ("Folder", "Concept", "Source")  # of nodes that exist by being named, before shared ones, in order
_NAMED: Final = pl.Schema(
    {"space": pl.String, "key": pl.String, "node_id": pl.String, "title": pl.String, "id": pl.Int64}
)


@dataclass(frozen=True, slots=True)
class Numbering:
    """Node ids of one generation.

    ``of_file``: Int64 by file row of the catalogue, null for a file without a node. ``of_key``: (space, key, id) of
    nodes that are no files; space is Folder, Source, Concept, missing, or ``shared/`` and the label.
    ``notes``: file rows in node order. ``media``: path, title, mime, size_bytes, is_missing, in node order; their ids
    start at ``len(notes)``. ``named``: space, key, title of the rest, in node order.
    """

    groups: tuple[NodeGroup, ...]
    node_count: int
    of_file: pl.Series
    of_key: pl.DataFrame
    notes: Ids
    media: pl.DataFrame
    named: pl.DataFrame


def number_nodes(
    catalogue: Catalogue, labels: pl.Series, links: LinkRows, shared: Shared, folders: Folders, profile: Profile
) -> Numbering:
    """Number every node; ``labels`` are the specific labels by file row of the notes."""
    names = Texts()
    label = names.numbers(labels)
    place = np.empty(len(names) + 1, dtype=np.int64)
    place[names.distinct.arg_sort().to_numpy()] = np.arange(1, len(names) + 1)
    place[NONE] = 0  # notes without a specific label come first
    notes = order_by(place[label])
    groups = _runs(taken(labels, notes).fill_null(""), 0, partial(_note_labels, note_label=profile.note_label))
    files = _files_numbered(catalogue, (notes, groups), _media(catalogue, links))
    return _numbered(files, _named(links, shared, folders))


def renumbered(
    known: Numbering,
    catalogue: Catalogue,
    links: LinkRows,
    shared: Shared,
    *,
    changed: Collection[Destination],
    keeps_shared: bool,
) -> Numbering:
    """The same where ``known`` is a numbering of the same notes, with the same labels, and of the same folders.

    ``changed``: what links to other things than notes differ of; ``keeps_shared``: whether shared nodes are the same.
    """
    after = len(known.notes)
    if {Destination.FILE, Destination.MISSING} & {*changed}:
        groups = (group for group in known.groups if group.stop <= after)
        files = _files_numbered(catalogue, (known.notes, groups), _media(catalogue, links))
    else:
        after += known.media.height
        groups = tuple(group for group in known.groups if group.stop <= after)
        of_key = known.of_key.head(known.of_key.height - known.named.height)
        files = replace(known, groups=groups, node_count=after, of_key=of_key)
    return _numbered(files, _renamed(known.named, links, shared, changed, keeps_shared=keeps_shared))


def _renamed(
    known: pl.DataFrame, links: LinkRows, shared: Shared, changed: Collection[Destination], *, keeps_shared: bool
) -> pl.DataFrame:
    """`_named` of after an edit, from ``known``, which was it before."""
    space = known["space"]
    stops = np.cumsum([0, *(int((space == name).sum()) for name in _SPACES)]).tolist()
    known = columns_of(known, "space", "key", "node_id", "title")
    folders, concepts, sources, rest = (
        known[first:stop] for first, stop in zip(stops, [*stops[1:], known.height], strict=True)
    )
    if Destination.CONCEPT in changed:
        concepts = _concepts(links)
    if Destination.SOURCE in changed:
        sources = _sources(links)
    return pl.concat([folders, concepts, sources, rest if keeps_shared else _shared(shared)], rechunk=True)


def _files_numbered(catalogue: Catalogue, ordered: tuple[Ids, Iterable[NodeGroup]], media: pl.DataFrame) -> Numbering:
    """A numbering of notes and files only; ``ordered``: the notes in node order, and their groups."""
    notes, groups = ordered
    after = len(notes) + media.height
    of_file = np.full(catalogue.files.height, NONE, dtype=np.int64)
    of_file[notes] = np.arange(len(notes))
    media = media.with_columns(pl.Series("id", np.arange(len(notes), after)))
    file = numbers_of(media["file"])
    present = np.flatnonzero(file >= 0)
    of_file[file[present]] = len(notes) + present
    missing = media.select("key", "id").filter(media["is_missing"])
    return Numbering(
        groups=(*groups, *_runs(media["kind"], len(notes), labels_of_kind)),
        node_count=after,
        of_file=or_null(of_file),
        of_key=missing.select(pl.lit("missing").alias("space"), "key", "id"),
        notes=notes,
        media=media,
        named=_NAMED.to_frame(),
    )


def _numbered(files: Numbering, named: pl.DataFrame) -> Numbering:
    """``files`` with the ``named`` nodes after them."""
    first = files.node_count
    count = first + named.height
    named = named.with_columns(pl.Series("id", np.arange(first, count)))
    return replace(
        files,
        groups=(*files.groups, *_runs(named["space"].str.strip_prefix("shared/"), first, _only_label)),
        node_count=count,
        of_key=pl.concat([files.of_key, columns_of(named, "space", "key", "id")]),
        named=named,
    )


def _note_labels(label: str, note_label: str) -> tuple[str, ...]:
    return (label, note_label) if label else (note_label,)


def _only_label(label: str) -> tuple[str, ...]:
    return (label,)


def _runs(values: pl.Series, first: int, labels_of: Callable[[str], tuple[str, ...]]) -> Iterator[NodeGroup]:
    """A node group for each run of equal values."""
    if not len(values):
        return
    runs = values.rle().struct.unnest()
    for length, value in runs.select("len", "value").iter_rows():  # row loop: one step a label
        yield NodeGroup(labels_of(value), first, first + length)
        first += length


def _media(catalogue: Catalogue, links: LinkRows) -> pl.DataFrame:
    """Files with a node (named by a link, or a canvas) and missing ones, in node order."""
    is_there = catalogue.files["is_canvas"].to_numpy().copy()
    is_there[links.towards(Destination.FILE, only=("target",))["target"].to_numpy()] = True
    there = np.flatnonzero(is_there)
    gone = _first_by_key(links.towards(Destination.MISSING, only=_LOST))
    paths = pl.concat([taken(catalogue.files["path"], there), gone["name"].alias("path")], rechunk=True)
    is_missing = np.arange(len(paths)) >= len(there)
    known = media_of(paths)
    at = np.where(is_missing, NONE, np.arange(len(paths)))
    media = pl.DataFrame(
        [
            paths.alias("path"),
            taken(catalogue.files["size_bytes"], np.append(there, np.full(gone.height, NONE))),
            or_null(np.append(there, np.full(gone.height, NONE))).alias("file"),
            pl.Series("is_missing", is_missing),
            taken(gone["key"], np.append(np.full(len(there), NONE), np.arange(gone.height))),
            known["kind"],
            taken(known["mime"], at),
            last_part(paths).alias("title"),
        ]
    )
    return media.sort(pl.col("kind") == "Image", "kind", "path") if len(paths) > 1 else media


def _first_by_key(rows: pl.DataFrame) -> pl.DataFrame:
    """(key, name) of link rows, in their order, the first of each key."""
    keys = Texts()
    number = keys.numbers(rows["key"])
    first = first_of(number, np.arange(rows.height), len(keys))
    return rows_at(rows, first)


def _named(links: LinkRows, shared: Shared, folders: Folders) -> pl.DataFrame:
    """(space, key, node_id, title) of the nodes that are no files, in node order; node_id is the property ``id``."""
    bare = folders.bare
    parts = [_space("Folder", bare, bare, last_part(bare)), _concepts(links), _sources(links), _shared(shared)]
    return pl.concat(parts, rechunk=True)


def _concepts(links: LinkRows) -> pl.DataFrame:
    concepts = _first_by_key(links.towards(Destination.CONCEPT, only=_LOST)).sort("key")
    return _space("Concept", concepts["key"], concepts["name"], concepts["name"])


def _sources(links: LinkRows) -> pl.DataFrame:
    sources = Texts()
    sources.numbers(links.towards(Destination.SOURCE, only=("key",))["key"])
    addresses = sources.distinct.sort()
    return _space("Source", addresses, addresses, addresses)


def _shared(shared: Shared) -> pl.DataFrame:
    nodes = shared.nodes
    return nodes.select(pl.format("shared/{}", "label").alias("space"), "key", node_id="key", title="title")


def _space(name: str, keys: pl.Series, ids: pl.Series, titles: pl.Series) -> pl.DataFrame:
    space = pl.Series("space", [name]).new_from_index(0, len(keys))
    return pl.DataFrame([space, keys.alias("key"), ids.alias("node_id"), titles.alias("title")])


def ids_of_notes(catalogue: Catalogue, stated: pl.DataFrame) -> pl.Series:
    """The ``id`` of each note by file row: frontmatter id, else stem; a shared one is the path without ``.md``.

    ``stated``: (file, text) of the frontmatter ids.
    """
    ids = catalogue.notes["stem"]
    stated = stated.filter(pl.col("text") != "") if stated.height else stated
    if stated.height:
        ids = _replaced(ids, stated["file"].to_numpy(), stated["text"])
    # A stated id can equal another note's path; only the whole path is left to tell them apart.
    for shorten in (True, False):
        shared = ids.is_duplicated().arg_true().to_numpy().astype(np.int64)
        if not len(shared):
            break
        paths = taken(catalogue.files["path"], shared)
        ids = _replaced(ids, shared, without_md(paths) if shorten else paths)
    return ids.alias("id")


def _replaced(values: pl.Series, rows: Ids, others: pl.Series) -> pl.Series:
    """``values`` with ``others`` at ``rows``."""
    place = np.arange(len(values))
    place[rows] = len(values) + np.arange(len(rows))
    return taken(pl.concat([values.alias(""), others.alias("")], rechunk=True), place)


def built_in_segments(
    numbering: Numbering, catalogue: Catalogue, ids: pl.Series, titles: pl.Series
) -> dict[str, list[Segment]]:
    """Segments of the properties every node, note or file has, but bodies; ``ids``, ``titles`` by file row of notes."""
    notes = numbering.notes
    about = {name: taken(catalogue.files[name], notes) for name in ("path", "stem", "folder", "size_bytes")}
    return segments_about(numbering, {**about, "id": taken(ids, notes), "title": taken(titles, notes)})


def segments_about(numbering: Numbering, about: Mapping[str, pl.Series]) -> dict[str, list[Segment]]:
    """The same, from what they are ``about`` notes, in node order: path, stem, folder, size_bytes, id and title."""
    media, named = numbering.media, numbering.named
    after = len(numbering.notes)
    space = named["space"]
    folder_count = int((space == "Folder").sum())
    concepts = np.flatnonzero((space == "Concept").to_numpy())
    columns = {
        "id": [Segment(0, joined(about["id"], media["path"], named["node_id"]))],
        "title": [Segment(0, joined(about["title"], media["title"], named["title"]))],
        "path": [Segment(0, joined(about["path"], media["path"], named["key"].head(folder_count)))],
        "file_path": [Segment(0, about["path"])],
        "concept_id": [Segment(0, about["id"])],
        "stem": [Segment(0, about["stem"])],
        "folder": [Segment(0, about["folder"])],
        "size_bytes": [Segment(0, joined(about["size_bytes"], media["size_bytes"]))],
        "mime": [Segment(after, media["mime"])],
    }
    if media["is_missing"].any():
        gone = true_or_null(media["is_missing"].to_numpy())
        columns["missing"] = [Segment(after, gone)]
        columns["_provisional"] = [Segment(after, gone)]
    if len(concepts):
        first = after + media.height + int(concepts[0])
        columns["concept_id"].append(Segment(first, taken(named["node_id"], concepts)))
        given = pl.Series([True]).new_from_index(0, len(concepts))
        columns.setdefault("_provisional", []).append(Segment(first, given))
    return {key: [segment for segment in segments if len(segment.series)] for key, segments in columns.items()}


def image_texts(links: LinkRows, titles: pl.Series, of_file: pl.Series, of_key: pl.DataFrame) -> pl.DataFrame:
    """(id, text) of images: the distinct alt texts and titles of what uses them, sorted, a line each."""
    asked = ("type", "display", "target", "key", "file")
    rows = links.towards(Destination.FILE, Destination.MISSING, only=asked)
    rows = rows.filter(rows["type"] == "HAS_IMAGE")
    if not rows.height:
        return pl.DataFrame(schema={"id": pl.Int64, "text": pl.String})
    keys = Texts()
    missing = of_key.filter(of_key["space"] == "missing")
    keys.numbers(missing["key"])
    of_missing = np.append(missing["id"].to_numpy(), np.full(rows.height + 1, NONE))[keys.numbers(rows["key"])]
    image = np.append(numbers_of(of_file), NONE)[numbers_of(rows["target"])]
    image = np.where(image >= 0, image, of_missing)
    words = Texts()
    word = np.concatenate([words.numbers(rows["display"]), words.numbers(taken(titles, rows["file"].to_numpy()))])
    image = np.concatenate([image, image])
    distinct = words.distinct
    order = distinct.arg_sort().to_numpy()
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order], place[NONE] = np.arange(len(order)), NONE
    place[:-1][(distinct == "").to_numpy()] = NONE
    place = place[word]
    count = max(len(order), 1)
    pairs = np.unique((image * count + place)[place >= 0])
    starts = np.flatnonzero(np.diff(pairs // count, prepend=NONE))
    lines = taken(distinct, order[pairs % count]).to_list()
    # row loop: once for each image that is named
    texts = ["\n".join(lines[start:stop]) for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True)]
    return pl.DataFrame({"id": pl.Series(pairs[starts] // count), "text": pl.Series(texts, dtype=pl.String)})
