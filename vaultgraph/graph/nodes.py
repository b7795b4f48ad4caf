"""Nodes: which there are, in which order they get their ids, and their built-in properties.

Notes come first, by label and path, then files, folders, and what exists only by being named. Node ids are positions in
that order. Frontmatter is properties.py's; relationships only see the numbering.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids, Segment
from vaultgraph.graph.folders import Folders
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.links import Destination, LinkRows
from vaultgraph.graph.media import labels_of_kind, media_of
from vaultgraph.graph.names import last_part
from vaultgraph.graph.shared import Shared
from vaultgraph.profile.settings import Profile


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
    order = pl.DataFrame({"label": labels, "file": pl.int_range(len(labels), eager=True)})
    order = order.sort("label", "file", nulls_last=False)
    media = _media(catalogue, links)
    named = _named(links, shared, folders)
    groups = [
        *_runs(order["label"].fill_null(""), 0, partial(_note_labels, note_label=profile.note_label)),
        *_runs(media["kind"], order.height, labels_of_kind),
        *_runs(named["space"].str.strip_prefix("shared/"), order.height + media.height, _only_label),
    ]
    of_file = np.full(catalogue.files.height, -1, dtype=np.int64)
    notes = order["file"].to_numpy()
    of_file[notes] = np.arange(len(notes))
    media = media.with_columns(id=pl.int_range(pl.len()) + order.height)
    present = media.filter(pl.col("file").is_not_null())
    of_file[present["file"].to_numpy()] = present["id"].to_numpy()
    named = named.with_columns(id=pl.int_range(pl.len()) + (order.height + media.height))
    missing = media.filter("is_missing").select(pl.lit("missing").alias("space"), "key", "id")
    return Numbering(
        groups=tuple(groups),
        node_count=order.height + media.height + named.height,
        of_file=pl.select(pl.when(pl.Series(of_file) >= 0).then(pl.Series(of_file))).to_series(),
        of_key=pl.concat([missing, named.select("space", "key", "id")]),
        notes=notes,
        media=media,
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
    named = links.towards(Destination.FILE)["target"].unique()
    files = catalogue.files.select("path", "size_bytes", "is_canvas").with_row_index("file")
    files = files.with_columns(pl.col("file").cast(pl.Int64))
    there = files.filter(pl.col("is_canvas") | pl.col("file").is_in(named.implode()))
    gone = links.towards(Destination.MISSING).sort("order").unique("key", keep="first", maintain_order=True)
    media = pl.concat(
        [
            there.select("path", "size_bytes", "file", is_missing=pl.lit(False), key=pl.lit(None, pl.String)),
            gone.select(
                pl.col("name").alias("path"),
                size_bytes=pl.lit(None, pl.Int64),
                file=pl.lit(None, pl.Int64),
                is_missing=pl.lit(True),
                key="key",
            ),
        ]
    )
    known = media_of(media["path"])
    mime = pl.when(~media["is_missing"]).then(known["mime"])
    return media.with_columns(kind=known["kind"], mime=mime, title=last_part(media["path"])).sort(
        pl.col("kind") == "Image", "kind", "path"
    )


def _named(links: LinkRows, shared: Shared, folders: Folders) -> pl.DataFrame:
    """(space, key, node_id, title) of the nodes that are no files, in node order; node_id is the property ``id``."""
    concepts = links.towards(Destination.CONCEPT).sort("order").unique("key", keep="first", maintain_order=True)
    sources = links.towards(Destination.SOURCE)["key"].unique().sort()
    bare = folders.bare
    return pl.concat(
        [
            _space("Folder", pl.DataFrame({"key": bare, "node_id": bare, "title": last_part(bare)})),
            _space("Concept", concepts.sort("key").select("key", node_id="name", title="name")),
            _space("Source", pl.DataFrame({"key": sources, "node_id": sources, "title": sources})),
            shared.nodes.select(pl.format("shared/{}", "label").alias("space"), "key", node_id="key", title="title"),
        ]
    )


def _space(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(pl.lit(name).alias("space"), "key", "node_id", "title")


def ids_of_notes(catalogue: Catalogue, stated: pl.DataFrame) -> pl.Series:
    """The ``id`` of each note by file row: frontmatter id, else stem; a shared one is the path without ``.md``.

    ``stated``: (file, text) of the frontmatter ids.
    """
    notes = catalogue.notes.select("path", "stem", bare=pl.col("path").str.replace(r"(?i)\.md$", ""))
    notes = notes.with_row_index("file").with_columns(pl.col("file").cast(pl.Int64))
    notes = notes.join(stated.filter(pl.col("text") != ""), on="file", how="left", maintain_order="left")
    notes = notes.with_columns(id=pl.coalesce("text", "stem"))
    notes = notes.with_columns(id=pl.when(pl.col("id").is_duplicated()).then("bare").otherwise("id"))
    # A stated id can equal another note's path; only the whole path is left to tell them apart.
    return notes.select(pl.when(pl.col("id").is_duplicated()).then("path").otherwise("id").alias("id"))["id"]


def built_in_segments(
    numbering: Numbering, catalogue: Catalogue, ids: pl.Series, titles: pl.Series
) -> dict[str, list[Segment]]:
    """Segments of the properties every node, note or file has, but bodies; ``ids``, ``titles`` by file row of notes."""
    notes, media, named = numbering.notes, numbering.media, numbering.named
    rows = pl.Series(notes)
    about = catalogue.notes[rows]
    after = len(notes)
    note_ids = ids.gather(rows)
    folder_count = named.filter(pl.col("space") == "Folder").height
    concepts = named.with_row_index("at").filter(pl.col("space") == "Concept")
    columns = {
        "id": [Segment(0, _joined(note_ids, media["path"], named["node_id"]))],
        "title": [Segment(0, _joined(titles.gather(rows), media["title"], named["title"]))],
        "path": [Segment(0, _joined(about["path"], media["path"], named["key"].head(folder_count)))],
        "file_path": [Segment(0, about["path"])],
        "concept_id": [Segment(0, note_ids)],
        "stem": [Segment(0, about["stem"])],
        "folder": [Segment(0, about["folder"])],
        "size_bytes": [Segment(0, _joined(about["size_bytes"], media["size_bytes"]))],
        "mime": [Segment(after, media["mime"])],
    }
    if media["is_missing"].any():
        gone = pl.select(pl.when(media["is_missing"]).then(True)).to_series()
        columns["missing"] = [Segment(after, gone)]
        columns["_provisional"] = [Segment(after, gone)]
    if concepts.height:
        first = after + media.height + int(concepts["at"][0])
        columns["concept_id"].append(Segment(first, concepts["node_id"]))
        columns.setdefault("_provisional", []).append(Segment(first, pl.repeat(True, concepts.height, eager=True)))
    return {key: [segment for segment in segments if len(segment.series)] for key, segments in columns.items()}


def _joined(*parts: pl.Series) -> pl.Series:
    return pl.concat([part.alias("") for part in parts]).rechunk()


def image_texts(links: LinkRows, titles: pl.Series, of_file: pl.Series, of_key: pl.DataFrame) -> pl.DataFrame:
    """(id, text) of images: the distinct alt texts and titles of what uses them, sorted, a line each."""
    rows = links.towards(Destination.FILE, Destination.MISSING).filter(pl.col("type") == "HAS_IMAGE")
    keys = of_key.filter(pl.col("space") == "missing").select("key", "id")
    rows = rows.join(keys, on="key", how="left", maintain_order="left")
    image = rows.select(pl.coalesce(of_file.gather(rows["target"]), "id")).to_series()
    words = pl.concat(
        [
            pl.DataFrame({"id": image, "text": rows["display"]}),
            pl.DataFrame({"id": image, "text": titles.gather(rows["file"])}),
        ]
    )
    return (
        words.filter(pl.col("text").fill_null("") != "")
        .unique()
        .sort("id", "text")
        .group_by("id", maintain_order=True)
        .agg(pl.col("text").str.join("\n"))
    )
