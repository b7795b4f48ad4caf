"""A graph brought up to an edit of a few notes, without building it anew.

An edit of words leaves all statements as they are: only bodies and sizes differ. Where links, tags, properties,
headings or lines differ, what the changed notes give to the graph is found out as it was and as it is
(graph/contribution) and exchanged: rows of relationships (patch_tables), nodes and columns (patch_nodes), problems and
counts. Whatever bears on other notes' links, as an alias, or a title that links use, is left to graph/build. What is
made here equals what that would make.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.build import shared_relationships
from vaultgraph.graph.built import Built
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.contribution import (
    Contribution,
    Stated,
    contributions,
    notes_of_files,
    stated_by,
    without,
)
from vaultgraph.graph.folders import CONTAINS
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.links import PARENT_KEY, Destination, LinkRows, found_by_name, link_relationships
from vaultgraph.graph.nodes import renumbered
from vaultgraph.graph.patch_nodes import changed_properties, is_narrow, moved_ids, node_columns, with_texts
from vaultgraph.graph.patch_tables import NOTHING, Exchange, exchanged
from vaultgraph.graph.patch_titles import Titles, retitled
from vaultgraph.graph.problems import PROBLEMS, collected
from vaultgraph.graph.shared import CHILD_OF, Shared, distinct_mentions, mention_types, shared_of, uses_of
from vaultgraph.graph.texts import columns_of, rows_where, taken
from vaultgraph.graph.unmet import unmet
from vaultgraph.note.records import LinkSyntax, RecordTable, rows_of_notes
from vaultgraph.profile.settings import Profile

MOST_NOTES: Final = 32  # changed at once; beyond it building anew is as quick
MOST_ASKED: Final = 256  # notes whose anchors lead to them
_SAME: Final = ("path", "is_canvas", "is_skipped")
_ABOUT: Final = (*_SAME, "title", "size_bytes")
_BEARING: Final = ("id", "aliases", "type")  # properties that decide what other notes' links and labels are


def patched(old: Built, before: RecordTable, after: RecordTable, notes: Ids, profile: Profile) -> Built | None:
    """What graph/build would make of ``after``; None where it has to be asked.

    ``old`` was built from ``before`` by ``profile``, and from the same files. Both records have the same notes; those
    at the rows ``notes``, ascending, may differ.
    """
    ground = old.ground
    if len(notes) > MOST_NOTES or before.pieces.height or after.pieces.height or ground is None:
        return None
    files = ground.catalogue.row_of_note[notes]
    rows = notes.tolist()
    listings = (before.listing, after.listing)
    was, now = (pl.DataFrame([listing[name][rows] for name in _ABOUT]) for listing in listings)
    is_named_as_before = columns_of(was, *_SAME).equals(columns_of(now, *_SAME)) and not now["is_canvas"].any()
    if not is_named_as_before or (files < 0).any() or not (before.has_bodies(rows) and after.has_bodies(rows)):
        return None
    nodes = taken(ground.numbering.of_file, files).to_numpy()
    columns = with_texts(old.graph, ground, after, (nodes, rows))
    texted = replace(old, graph=replace(old.graph, node_columns=columns), ground=_with_sizes(ground, files, now))
    stated = stated_by(before, after, notes)
    titles = _titles(files, was, now)
    if not titles and all(own.equals(others) for own, others in stated.values()):
        return _with_unmet(texted, old.graph, profile)
    done = _exchanged(texted, (before, after), notes, stated, titles, profile)
    return done and _with_unmet(done, old.graph, profile)


def _with_sizes(ground: Ground, files: Ids, notes: pl.DataFrame) -> Ground:
    """The ground with the sizes of ``notes``, which are at the file rows ``files``."""
    sizes = ground.catalogue.files["size_bytes"].clone().scatter(files, notes["size_bytes"])
    return replace(
        ground, catalogue=replace(ground.catalogue, files=ground.catalogue.files.with_columns(size_bytes=sizes))
    )


def _titles(files: Ids, was: pl.DataFrame, now: pl.DataFrame) -> Titles:
    """Titles that differ, by file row."""
    found = zip(files.tolist(), was["title"].to_list(), now["title"].to_list(), strict=True)
    return {file: (before, after) for file, before, after in found if before != after}


def _exchanged(
    old: Built,
    records: tuple[RecordTable, RecordTable],
    notes: Ids,
    stated: Stated,
    titles: Titles,
    profile: Profile,
) -> Built | None:
    """``old``, whose texts are those of after the edit, with all else the changed notes state exchanged too."""
    assert old.ground is not None
    before, after = records
    known = old.ground.in_order()
    properties = stated["properties"]
    if profile.edge_defaults or not is_narrow(old.graph) or not _bears_same(*properties):
        return None
    asking = _asking(old.graph, known, notes, stated)
    if len(asking) > MOST_ASKED:
        return None
    every = stated if len(asking) == len(notes) else stated_by(before, after, asking)
    gave, gives = contributions(records, every, known, profile)
    renamed = retitled(known, titles, (gave.links, gives.links))
    if renamed is None:
        return None
    problems = _problems(old.problems, gave.problems, gives.problems)
    files = known.catalogue.row_of_note[notes]
    if every is not stated:
        gave, gives = gave.of_files(files), gives.of_files(files)
    ground, has_new_images = _ground(renamed, notes, gave, gives, profile)
    if titles:  # images have the titles of the notes that show them
        shown = ground.elsewhere.filter(ground.elsewhere["file"].is_in(list(titles)))
        has_new_images = has_new_images or bool(shown["is_image"].any())
    moved = moved_ids(known.numbering, ground.numbering)
    exchanges = _exchanges(old.graph.relationships, (gave, gives), (known, ground), files, profile)
    if problems is None or exchanges is None or not _is_ascending(moved):
        return None
    tables = exchanged(old.graph.relationships, exchanges, moved)
    if tables is None:
        return None
    changed = changed_properties(properties[0], properties[1], after, ground, profile)
    columns = node_columns(old.graph, known, ground, after, changed, has_new_images=has_new_images)
    graph = Graph(ground.numbering.node_count, ground.numbering.groups, columns, tables)
    counts = {name: count + gives.counts.get(name, 0) - gave.counts.get(name, 0) for name, count in old.counts.items()}
    return Built(graph, problems, counts, ground)


def _bears_same(was: pl.DataFrame, now: pl.DataFrame) -> bool:
    """Whether no property differs on which links or labels of other notes depend."""
    if was.equals(now):
        return True
    before, after = (rows_where(rows, rows["key"].is_in(list(_BEARING)).to_numpy()) for rows in (was, now))
    return without(before, "line").equals(without(after, "line"))


def _is_ascending(moved: Ids | None) -> bool:
    return moved is None or bool((np.diff(moved[moved >= 0]) > 0).all())


def _asking(graph: Graph, ground: Ground, notes: Ids, stated: Stated) -> Ids:
    """The changed notes, and those with a link to an anchor in one whose anchors changed; rows of the records."""
    anchors = [tuple(without(rows, "line") for rows in stated[name]) for name in ("headings", "blocks")]
    if all(own.equals(others) for own, others in anchors):
        return notes
    # row loop: the changed notes
    changed = [
        note
        for note in notes.tolist()
        if any(not rows_of_notes(own, [note]).equals(rows_of_notes(others, [note])) for own, others in anchors)
    ]
    nodes = ground.numbering.of_file.gather(ground.catalogue.row_of_note[changed]).to_numpy()
    found = [notes]
    note_of_node = notes_of_files(ground)[ground.numbering.notes]
    for table in graph.relationships.values():  # row loop: one step a relationship type
        column = table.columns.get("anchor")
        if column is None or not len(nodes):
            continue
        # A relationship to a parent may be turned round: both ends are looked at.
        for adjacency in (table.incoming, table.outgoing):
            _, others, rows = adjacency.expand(nodes)
            anchored = column.segments[0].series[rows].is_not_null().to_numpy()
            others = others[anchored]
            found.append(note_of_node[others[others < len(note_of_node)]])
    return np.unique(np.concatenate(found))


def _ground(
    known: Ground, notes: Ids, gave: Contribution, gives: Contribution, profile: Profile
) -> tuple[Ground, bool]:
    """The ground of after the edit; and whether links to images differ."""
    files = known.catalogue.row_of_note[notes]
    lost, found = (without(given.links.elsewhere, "order", "line") for given in (gave, gives))
    is_elsewhere_same = lost.equals(found)
    changed = set[Destination]() if is_elsewhere_same else _changed(lost, found)
    elsewhere = known.elsewhere if is_elsewhere_same else _spliced(known, gives.links.elsewhere, files)
    used = known.shared.used
    change = None
    if gave.written is not None and gives.written is not None and not gave.written.equals(gives.written):
        change = _change(gave.written, gives.written)
    if change is not None and change.height:
        every = pl.concat([used.with_columns(pl.col("uses").cast(pl.Int64)), change])
        every = every.group_by("label", "key", "spelling").agg(pl.col("uses").sum()).filter(pl.col("uses") > 0)
        used = every.with_columns(pl.col("uses").cast(used["uses"].dtype))
    shared = known.shared if used is known.shared.used else shared_of(used, known.shared.mentions, profile)
    numbering = known.numbering
    if not is_elsewhere_same or shared is not known.shared:
        few = columns_of(elsewhere, "destination", "target", "key", "name")  # what numbering asks of them
        numbering = renumbered(
            numbering,
            known.catalogue,
            LinkRows(few, few),
            shared,
            changed=changed,
            keeps_shared=shared is known.shared,
        )
    ground = replace(
        known, elsewhere=elsewhere, by_name=_by_name(known, gave, gives, files), shared=shared, numbering=numbering
    )
    has_new_files = Destination.FILE in changed or Destination.MISSING in changed
    pictures = (rows_where(rows, rows["is_image"].to_numpy()) for rows in (lost, found))
    return ground, has_new_files and not next(pictures).equals(next(pictures))


def _changed(lost: pl.DataFrame, found: pl.DataFrame) -> set[Destination]:
    """What links to something else than notes lead to where they differ, by what they were and are."""
    was, now = (dict[int, list[tuple[object, ...]]]() for _ in range(2))
    for rows, by_destination in ((lost, was), (found, now)):
        # row loop: the links to nothing of the changed notes
        for destination, row in zip(rows["destination"].to_list(), rows.iter_rows(), strict=True):
            by_destination.setdefault(destination, []).append(row)
    return {Destination(one) for one in was | now if was.get(one) != now.get(one)}


def _by_name(known: Ground, gave: Contribution, gives: Contribution, files: Ids) -> pl.DataFrame:
    """`Ground.by_name` of after the edit."""
    was, now = (found_by_name(given.links) for given in (gave, gives))
    if was.equals(now):
        return known.by_name
    return pl.concat([known.by_name.filter(~known.by_name["file"].is_in(pl.Series(files).implode())), now])


def _change(gave: pl.DataFrame, gives: pl.DataFrame) -> pl.DataFrame:
    """By how much each spelling is written more, as `Shared.used` but signed; without those written as often."""
    signed = [
        uses_of(written).with_columns(uses=pl.col("uses").cast(pl.Int64) * sign)
        for written, sign in ((gave, -1), (gives, 1))
    ]
    change = pl.concat(signed).group_by("label", "key", "spelling").agg(pl.col("uses").sum())
    return change.filter(pl.col("uses") != 0)


def _spliced(known: Ground, fresh: pl.DataFrame, files: Ids) -> pl.DataFrame:
    """The link rows that do not lead to a note, those of ``files`` as they are now, in the order of the records."""
    every, note_of_file = known.elsewhere, notes_of_files(known)
    notes = note_of_file[every["file"].to_numpy()]
    fresh = columns_of(fresh, *every.columns)
    parts: list[pl.DataFrame] = []
    done = 0
    for file in files.tolist():  # row loop: the changed notes
        first, stop = (int(np.searchsorted(notes, note_of_file[file], side=side)) for side in ("left", "right"))
        parts += [every[done:first], rows_where(fresh, (fresh["file"] == file).to_numpy())]
        done = stop
    return pl.concat([*parts, every[done:]], rechunk=True)


def _exchanges(
    tables: Mapping[str, RelationshipTable],
    given: tuple[Contribution, Contribution],
    grounds: tuple[Ground, Ground],
    files: Ids,
    profile: Profile,
) -> dict[str, Exchange] | None:
    """What to exchange in each table; None where rows of the changed notes cannot be told from those of others."""
    known, ground = grounds
    gives = given[1]
    links = gives.links
    is_turned = profile.folder_notes.direction == "parent_to_child"
    if is_turned:
        # Such links start at the other note, where other notes' lie as well: they may not differ.
        was, now = (_parents(side.links) for side in given)
        if not was.drop("order").equals(now.drop("order")) or any(_has_parent_fields(side.links) for side in given):
            return None
        links = LinkRows(links.rows.join(now, on="order", how="anti", maintain_order="left"), links.elsewhere)
    numbering = ground.numbering
    families = link_relationships(links, numbering.of_file, numbering.of_key, profile)
    held = {CONTAINS, profile.folder_notes.edge}
    # Mentions that are as they were can stay where they are, if no link of such a note lies among them.
    mentioning, nested = mention_types(profile), None
    before, after = (side.written for side in given)
    if before is not None and after is not None:
        mentioning = {*before["type"], *after["type"]}
        if held & mentioning:
            return None
        if mentioning & {*links.rows["type"], *given[0].links.rows["type"]} or not before.equals(after):
            shared = replace(ground.shared, mentions=distinct_mentions(after))
            mentioned, nested = shared_relationships(shared, numbering)
            families.append(mentioned)
            mentioning = set[str]()
    fresh = _by_type(families)
    nodes = np.sort(taken(known.numbering.of_file, files).to_numpy())
    exchanges: dict[str, Exchange] = {}
    for name in {*tables, *fresh} - mentioning:  # row loop: one step a relationship type
        rows = _rows_from(tables[name], nodes) if name in tables else NOTHING.gone
        if name in held and len(rows):
            rows = rows[_is_of_link(tables[name], rows, keeps_parents=is_turned)]
        if len(rows) or name in fresh:
            exchanges[name] = Exchange(rows, fresh.get(name, NOTHING.fresh))
    if nested is not None and _pairs(known.shared) != _pairs(ground.shared):
        exchanges[CHILD_OF] = _with_nested(exchanges.get(CHILD_OF), tables.get(CHILD_OF), nested, known)
    return exchanges


def _parents(links: LinkRows) -> pl.DataFrame:
    """The links to a parent that are turned round."""
    return links.rows.filter((pl.col("property") == PARENT_KEY) & (pl.col("syntax") == LinkSyntax.FRONTMATTER))


def _has_parent_fields(links: LinkRows) -> bool:
    """Whether an inline field names a parent: nothing is turned round then, but it looks alike in the graph."""
    is_field = (links.rows["property"] == PARENT_KEY) & (links.rows["syntax"] != LinkSyntax.FRONTMATTER)
    return bool(is_field.any())


def _by_type(families: list[pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Rows of relationships by type, in the order of the families."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for family in families:
        names = dict.fromkeys(family["type"].to_list())
        for name in names:  # row loop: one step a relationship type
            parts.setdefault(name, []).append(rows_where(family, (family["type"] == name).to_numpy()))
    return {name: pl.concat(found, how="diagonal") if len(found) > 1 else found[0] for name, found in parts.items()}


def _rows_from(table: RelationshipTable, nodes: Ids) -> Ids:
    """The rows that start at one of ``nodes``, both ascending."""
    asked = nodes.astype(np.uint32)  # as the sources are, which would all be copied otherwise
    firsts, stops = (np.searchsorted(table.sources, asked, side=side) for side in ("left", "right"))
    counts = stops - firsts
    return np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))


def _is_of_link(
    table: RelationshipTable, rows: Ids, *, keeps_parents: bool
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which of the rows come from links of the note they start at; the others from where notes lie."""
    is_link = _cells(table, "count", rows).is_not_null()
    if keeps_parents:
        is_link &= (_cells(table, "property", rows) != PARENT_KEY).fill_null(True)
    return is_link.to_numpy()


def _cells(table: RelationshipTable, key: str, rows: Ids) -> pl.Series:
    column = table.columns.get(key)
    return column.segments[0].series[rows] if column else pl.Series([None] * len(rows), dtype=pl.String)


def _pairs(shared: Shared) -> set[tuple[str, str, str]]:
    """The nesting of tags as (label, key, parent)."""
    return set(shared.nested.select("label", "key", "parent").iter_rows())


def _with_nested(
    exchange: Exchange | None, table: RelationshipTable | None, nested: pl.DataFrame, known: Ground
) -> Exchange:
    """The exchange of `CHILD_OF` with all nesting of tags put in anew."""
    named = known.numbering.named["space"].str.starts_with("shared/")
    first = known.numbering.node_count - len(named)
    tags = first + named.arg_true().to_numpy()
    sources = table.sources if table else np.zeros(0, dtype=np.uint32)
    gone = np.flatnonzero(np.isin(sources, tags))
    if exchange is None:
        return Exchange(gone, nested)
    return Exchange(np.union1d(exchange.gone, gone), pl.concat([exchange.fresh, nested], how="diagonal"))


def _with_unmet(built: Built, before: Graph, profile: Profile) -> Built | None:
    """``built`` with what the configuration declares and the graph has nothing of, as it is now."""
    was, now = (collected(unmet(graph, profile)) for graph in (before, built.graph))
    problems = built.problems if was.equals(now) else _problems(built.problems, was, now)
    return None if problems is None else replace(built, problems=problems)


def _problems(every: pl.DataFrame, gone: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame | None:
    """The problems with rows exchanged, sorted as they were; None where a row that goes is not there."""
    leaving, coming = Counter(gone.iter_rows()), Counter(fresh.iter_rows())
    paths = sorted({str(path) for path, *_ in (leaving - coming) | (coming - leaving)})
    for path in paths:  # row loop: the notes whose problems differ
        first, stop = bisect_left(every["path"], path), bisect_right(every["path"], path)
        own = Counter(every[first:stop].iter_rows())
        going = Counter({row: count for row, count in leaving.items() if row[0] == path})
        if going - own:
            return None
        rows = [*((own - going) + Counter({row: count for row, count in coming.items() if row[0] == path})).elements()]
        new = collected([pl.DataFrame(rows, schema=PROBLEMS, orient="row")])
        every = pl.concat([every[:first], new, every[stop:]]).rechunk()
    return every
