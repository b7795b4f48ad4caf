"""Building: from what notes state, the files there are and the profile, the graph.

A pure function, the same for a first build and a refresh. The steps are: the catalogue of files, labels, links with
their destinations, folders, shared nodes, numbering, parts of notes, properties, relationships, problems; each has its
own module.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.files.stamps import Stamps
from vaultgraph.graph import problems as wording
from vaultgraph.graph.anchors import missing_anchors
from vaultgraph.graph.built import Built
from vaultgraph.graph.catalogue import Catalogue, catalogue_of
from vaultgraph.graph.coerce import cell_texts, coerced
from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.defaults import with_defaults
from vaultgraph.graph.derived import NOTHING, Notes, derived_of
from vaultgraph.graph.derived_relationships import with_pieces
from vaultgraph.graph.folders import CONTAINS, Folders, folders_of
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.known import names_of
from vaultgraph.graph.labels import specific_labels
from vaultgraph.graph.links import LinkRows, found_by_name, link_relationships, link_rows
from vaultgraph.graph.nodes import Numbering, built_in_segments, ids_of_notes, image_texts, number_nodes
from vaultgraph.graph.pieces import relations_of
from vaultgraph.graph.properties import property_segments
from vaultgraph.graph.relationships import relationship_tables
from vaultgraph.graph.resolve import CALLED, other_names
from vaultgraph.graph.shared import CHILD_OF, Shared, shared_nodes
from vaultgraph.graph.texts import NONE, Texts, numbers_of, rows_where, taken
from vaultgraph.graph.unmet import unmet
from vaultgraph.graph.unused_rules import unused_rules
from vaultgraph.note.alone import TEXTS, made_of
from vaultgraph.note.records import RecordTable, ValueKind
from vaultgraph.profile.settings import Profile

BUILT_IN: Final = ("path", "file_path", "concept_id", "stem", "folder", "body", "size_bytes", "mtime")
"""Properties of ours that a frontmatter key cannot replace; its value is kept as ``frontmatter.<key>``."""
ANSWERED: Final = ("id", "title")
"""Frontmatter keys whose value already is the built-in property of the name."""


def build_graph(records: RecordTable, stamps: Stamps, profile: Profile) -> Built:
    """The graph of a vault, with what is wrong in it. Deterministic: equal arguments give equal columns.

    Notes come from ``records``; ``stamps`` gives the other files, symlinks and sizes.
    """
    ground, links, relations = _grounded(records, stamps, profile)
    catalogue, numbering = ground.catalogue, ground.numbering
    paths, titles = catalogue.files["path"], by_file(records.listing["title"], catalogue)
    properties = with_file(records.properties, catalogue)
    stated, wrong = stated_properties(properties, ground.labels, paths, profile)
    about = Notes(ground.labels, ground.ids, titles, stated)
    derived, linked, written = NOTHING, links, links
    if relations is not None:
        derived = derived_of(records, catalogue, about, links, relations, numbering, profile)
        linked, written = derived.links or links, derived.written or links
        wrong += [wording.refused_types(refused, paths) for refused in derived.refused]
    if profile.reading.structure:
        wrong.append(unused_rules(profile.reading.structure, derived.made))
    columns = [
        property_segments(with_nodes(stated, numbering), numbering.groups),
        built_in_segments(numbering, catalogue, about.ids, titles),
        _bodies(records.notes["body"], catalogue, numbering),
        text_segment(image_texts(links, titles, numbering.of_file, numbering.of_key)),
        derived.segments,
    ]
    relationships = [*_relationships(linked, ground, profile), *derived.relationships]
    graph = Graph(
        node_count=numbering.node_count + derived.node_count,
        groups=numbering.groups + derived.groups,
        node_columns=merged_columns(columns),
        relationships=relationship_tables(relationships),
    )
    if profile.edge_defaults:
        graph = with_defaults(graph, profile)
    headings, blocks = (with_file(frame, catalogue) for frame in (records.headings, records.blocks))
    anchors = missing_anchors(written.anchored(), headings, blocks)
    found = [
        *wording.unresolved(written, paths),
        wording.lacking_anchors(anchors, paths),
        wording.second_folder_notes(ground.folders),
        *wrong,
        *unmet(graph, profile),
        wording.stated_problems(records.problems, records.listing["path"]),
        stamps.problems,
    ]
    counts = wording.link_counts(written, catalogue, ground.folders) | {"missing_anchors": anchors.height}
    return Built(graph, wording.collected(found), counts, ground.without_mentions())


def ground_of(records: RecordTable, stamps: Stamps, profile: Profile) -> Ground:
    """The ground of a graph that was read from a file; bodies are not asked for."""
    return _grounded(records, stamps, profile)[0].without_mentions()


def _grounded(records: RecordTable, stamps: Stamps, profile: Profile) -> tuple[Ground, LinkRows, pl.DataFrame | None]:
    """The ground, with the mentions of shared nodes, all link rows, and the rows of tables that are relationships."""
    catalogue = catalogue_of(records, stamps, profile)
    properties, stated_links, tags = (
        with_file(frame, catalogue) for frame in (records.properties, records.links, records.tags)
    )
    labels = specific_labels(properties, catalogue, profile)
    names = names_of(catalogue, _called(properties, by_file(records.listing["title"], catalogue), catalogue, profile))
    relations = relations_of(records, catalogue) if records.pieces.height else None
    links = link_rows(
        stated_links if relations is None else with_pieces(stated_links, relations), catalogue, names, profile
    )
    folders = folders_of(catalogue)
    shared = shared_nodes(tags, properties, profile)
    numbering = number_nodes(catalogue, labels, links, shared, folders, profile)
    ids = _ids(properties, catalogue)
    ground = Ground(catalogue, names, labels, ids, folders, shared, links.elsewhere, found_by_name(links), numbering)
    return ground, links, relations


def with_file(frame: pl.DataFrame, catalogue: Catalogue) -> pl.DataFrame:
    """Record rows with ``file`` (row in the catalogue) in place of ``note``; rows of skipped notes are dropped."""
    files = catalogue.row_of_note[frame["note"].to_numpy()]
    columns = [column for column in frame.iter_columns() if column.name != "note"]
    # In one piece each: after edits records lie in several, and columns cut in different places break some expressions.
    rows = pl.DataFrame([*columns, pl.Series("file", files)]).rechunk()
    return rows.filter(pl.Series(files >= 0)) if len(files) and int(files.min()) < 0 else rows


def by_file(values: pl.Series, catalogue: Catalogue) -> pl.Series:
    """Values of the records' notes by file row of the catalogue, null for files that are not read."""
    rows = catalogue.row_of_note
    blank = catalogue.files.height - len(values)
    if blank >= 0 and np.array_equal(rows, np.arange(len(values))):
        return values.extend_constant(None, blank) if blank else values
    notes = np.flatnonzero(rows >= 0)
    positions = np.full(catalogue.files.height, NONE, dtype=np.int64)
    positions[rows[notes]] = notes
    return taken(values, positions)


def _called(properties: pl.DataFrame, titles: pl.Series, catalogue: Catalogue, profile: Profile) -> pl.DataFrame:
    """Aliases, titles and slugs links may use; none where the profile resolves as Obsidian does."""
    if profile.resolution != "forgiving":
        return CALLED.to_frame()
    is_alias = (properties["key"] == "aliases") & (properties["kind"] < ValueKind.EMPTY_LIST)
    aliases = properties.filter(is_alias)
    names = cell_texts(aliases).str.strip_chars() if aliases.height else aliases["text"]
    named = pl.DataFrame([aliases["file"], names.alias("name")])
    return other_names(catalogue, named, titles.head(catalogue.note_count))


def _ids(properties: pl.DataFrame, catalogue: Catalogue) -> pl.Series:
    stated = properties.filter((properties["key"] == "id") & (properties["ordinal"] < 0))
    return ids_of_notes(catalogue, pl.DataFrame([stated["file"], cell_texts(stated)]))


def stated_properties(
    properties: pl.DataFrame, labels: pl.Series, paths: pl.Series, profile: Profile
) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Frontmatter as long rows, converted and under the keys it has in the graph; and the problems of making them."""
    keys = Texts()
    keys.numbers(pl.Series([*BUILT_IN, *ANSWERED]))
    key = keys.numbers(properties["key"])
    is_stated = (key < len(BUILT_IN)) | (key >= len(BUILT_IN) + len(ANSWERED))
    rows, refused = coerced(properties.filter(pl.Series(is_stated)), labels, profile)
    found = [wording.refused_types(refused, paths)] if refused.height else []
    if (key < len(BUILT_IN)).any():
        is_shadowed = rows["key"].is_in(BUILT_IN)
        hidden = rows.filter(is_shadowed).unique(["file", "key"], keep="first", maintain_order=True)
        found.append(wording.shadowed_keys(hidden, paths))
        rows = rows.with_columns(key=pl.when(is_shadowed).then(pl.format("frontmatter.{}", "key")).otherwise("key"))
    return rows, found


def with_nodes(stated: pl.DataFrame, numbering: Numbering) -> pl.DataFrame:
    """Property rows with ``node``, the id of the node of their ``file``."""
    return stated.with_columns(taken(numbering.of_file, stated["file"].to_numpy()).alias("node"))


def _bodies(bodies: pl.Series, catalogue: Catalogue, numbering: Numbering) -> dict[str, list[Segment]]:
    """``body`` over all notes, in node order."""
    ordered = taken(by_file(bodies, catalogue), numbering.notes)
    return {"body": [Segment(0, ordered)]} if len(ordered) else {}


def text_segment(texts: pl.DataFrame) -> dict[str, list[Segment]]:
    """``Image.text`` over the range of images that have one."""
    if not texts.height:
        return {}
    first, last = int(texts["id"][0]), int(texts["id"][-1])
    place = np.full(last + 1 - first, NONE, dtype=np.int64)
    place[texts["id"].to_numpy() - first] = np.arange(texts.height)
    return {"text": [Segment(first, taken(texts["text"], place))]}


def merged_columns(families: Sequence[Mapping[str, list[Segment]]]) -> Mapping[str, Column]:
    """One column a property, of the segments all ``families`` have of it; a property without any has none."""
    keys = sorted({key for family in families for key in family})
    merged = {key: [segment for family in families for segment in family.get(key, [])] for key in keys}
    return {key: Column(tuple(sorted(found, key=lambda s: s.first))) for key, found in merged.items() if found}


def _relationships(links: LinkRows, ground: Ground, profile: Profile) -> list[pl.DataFrame]:
    """Every relationship of the graph, as families of rows for relationship_tables."""
    numbering = ground.numbering
    linked = link_relationships(links, numbering.of_file, numbering.of_key, profile)
    return [*linked, _held(ground.folders, numbering, profile), *shared_relationships(ground.shared, numbering)]


def _held(folders: Folders, numbering: Numbering, profile: Profile) -> pl.DataFrame:
    """CONTAINS from folders and to subfolders; the folder-note relationship between a folder note and its notes."""
    folders_from = numbering.of_key["id"].filter(numbering.of_key["space"] == "Folder")  # in the order of `bare`
    node_of_file = np.append(numbers_of(numbering.of_file), NONE)
    node_of_folder = np.append(folders_from.to_numpy(), NONE)
    held = {name: numbers_of(folders.held[name]) for name in folders.held.columns}
    owner, member = (
        np.where(held[note] >= 0, node_of_file[held[note]], node_of_folder[held[folder]])
        for note, folder in (("folder_note", "folder"), ("note", "subfolder"))
    )
    is_child = (held["folder_note"] >= 0) & (held["note"] >= 0)
    is_upward = is_child if profile.folder_notes.direction == "child_to_parent" else np.zeros_like(is_child)
    return pl.DataFrame(
        [
            pl.Series("source", np.where(is_upward, member, owner)),
            pl.Series("target", np.where(is_upward, owner, member)),
            taken(pl.Series([CONTAINS, profile.folder_notes.edge]), is_child.astype(np.int64)).alias("type"),
        ]
    )


def shared_relationships(shared: Shared, numbering: Numbering) -> list[pl.DataFrame]:
    """Mentions of shared nodes, and the nesting of tags."""
    mentions, nested = shared.mentions, shared.nested
    labels, keys = Texts(), Texts()
    space = numbering.of_key["space"]
    spaces = rows_where(numbering.of_key, made_of(space, TEXTS.str.starts_with("shared/")).to_numpy())
    label = labels.numbers(made_of(spaces["space"], TEXTS.str.strip_prefix("shared/")))
    key = keys.numbers(spaces["key"])
    nodes = np.full((len(labels), len(keys)), NONE, dtype=np.int64)
    nodes[label, key] = spaces["id"].to_numpy()

    def ids(rows: pl.DataFrame, name: str = "key") -> pl.Series:
        return pl.Series(nodes[labels.numbers(rows["label"]), keys.numbers(rows[name])])

    rows, names = mentions.rows, mentions.names
    sources = taken(numbering.of_file, rows["file"].to_numpy())
    ends = [sources.alias("source"), taken(ids(names), mentions.name).alias("target")]
    named = pl.Series("type", [CHILD_OF]).new_from_index(0, nested.height)
    return [
        pl.DataFrame([*ends, taken(names["type"], mentions.name), rows["line"].cast(pl.Int64), rows["property"]]),
        pl.DataFrame([ids(nested).alias("source"), ids(nested, "parent").alias("target"), named]),
    ]
