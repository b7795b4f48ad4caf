"""Links as rows: what each one leads to, and the relationship it becomes.

Takes link rows of the records, resolves their distinct targets with resolve.py and sorts them by destination. Ends are
file rows or keys; `link_relationships` makes relationships of them once nodes.py has numbered the nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.known import Names
from vaultgraph.graph.media import has_known_extension, media_of
from vaultgraph.graph.names import extension, fold, relationship_types, without_md
from vaultgraph.graph.resolve import Found, Mode, resolve
from vaultgraph.graph.texts import (
    NONE,
    Texts,
    columns_of,
    joined,
    numbers_of,
    or_null,
    order_by,
    rows_at,
    rows_where,
    taken,
    true_or_null,
)
from vaultgraph.note.records import LinkSyntax
from vaultgraph.profile.settings import Profile

PARENT_KEY: Final = "parent"
PIECE: Final = (
    "piece"  # column of link rows where a profile reads tables as relationships: the piece a TABLE link is of
)
_CARRIED: Final = (
    "section", "anchor", "display", "property", "width", "height", "line", "via", "is_ambiguous",
)  # fmt: skip
_SAME: Final = ("source", "target", "type", "section", "anchor", "display", "property")
"""Where these are equal, links are one relationship."""
_TYPES: Final = ("LINKS_TO", "LINKS_OUT", "HAS_IMAGE", "HAS_ATTACHMENT", "EMBEDS")
_VIA: Final = ("alias", "title", "slug")

_ATTACHED: Final = pl.Schema(
    {
        "source": pl.Int64, "target": pl.Int64, "type": pl.String, "section": pl.String, "anchor": pl.String,
        "alt": pl.String, "width": pl.Int64, "height": pl.Int64, "line": pl.Int64, "count": pl.Int64,
        "ordinal": pl.Int64, "ambiguous": pl.Boolean,
    }
)  # fmt: skip

Flags = npt.NDArray[np.bool_]


class Destination(IntEnum):
    """What a link leads to."""

    NOTE = 0
    FILE = 1  # an image, a canvas, any other file that is there
    MISSING = 2  # a file that is not there
    CONCEPT = 3  # a note that is not there
    SOURCE = 4  # a web address
    OUTSIDE = 5  # outside the vault: no node


@dataclass(frozen=True, slots=True)
class LinkRows:
    """``rows``: one a link, in record order: order UInt32, file Int64 (source), line, syntax, is_embed, anchor,
    display, width, height, section, property as in the records; destination UInt8; target Int64 (file row, null where
    it is none); name, key String (of what is not a file); via UInt8; is_ambiguous, is_image Boolean; type String.

    ``elsewhere``: the rows that do not lead to a note.
    """

    rows: pl.DataFrame
    elsewhere: pl.DataFrame

    def towards(self, *destinations: Destination, only: Sequence[str] = ()) -> pl.DataFrame:
        """The rows that lead to one of ``destinations``; of the columns ``only`` some, if there are any."""
        rows = self.rows if Destination.NOTE in destinations else self.elsewhere
        is_chosen = _is_any(rows["destination"].to_numpy(), *destinations)
        rows = columns_of(rows, *only) if only else rows
        return rows_where(rows, is_chosen) if is_chosen.any() else rows[:0]

    def anchored(self) -> pl.DataFrame:
        """(file, line, target, anchor) of the rows that lead to a note and have an anchor."""
        is_anchored = self.rows["anchor"].is_not_null() & (self.rows["destination"] == Destination.NOTE.value)
        return rows_where(columns_of(self.rows, "file", "line", "target", "anchor"), is_anchored.to_numpy())


def found_by_name(links: LinkRows) -> pl.DataFrame:
    """(file, key) of the links that found a note by an alias, its title or a slug."""
    rows = np.flatnonzero(links.rows["via"].to_numpy())
    return rows_at(columns_of(links.rows, "file", "key"), rows)


def link_rows(links: pl.DataFrame, catalogue: Catalogue, vault: Names, profile: Profile) -> LinkRows:
    """All links of the graph with their destinations; ``links``: record rows with ``file`` in place of ``note``."""
    is_folder = (links["syntax"] == LinkSyntax.MARKDOWN).to_numpy()
    at = np.flatnonzero(is_folder)
    if len(at):
        is_folder[at] = links["target"][at].str.ends_with("/").to_numpy()
        links = rows_where(links, ~is_folder)
    syntax, targets = links["syntax"].to_numpy(), links["target"]
    is_self, is_web = (targets == "").to_numpy(), syntax == LinkSyntax.URL
    asked = np.flatnonzero(~is_self & ~is_web)
    found, means_file = _resolved(
        rows_at(columns_of(links, "target", "syntax", "is_embed", "file"), asked), catalogue, vault
    )
    to = np.where(is_self, links["file"].to_numpy(), NONE)
    to[asked] = found.file
    place = np.full(links.height, NONE, dtype=np.int64)
    place[asked] = found.at
    is_named = np.flatnonzero(is_web)
    place[is_named] = len(found.names) + np.arange(len(is_named))
    addresses = taken(targets, is_named)
    names, keys = (taken(joined(texts, addresses), place) for texts in (found.names, found.keys))
    is_outside, means_file, is_ambiguous = (
        _spread(flags, asked, links.height) for flags in (found.is_outside, means_file, found.is_ambiguous)
    )
    via = np.zeros(links.height, dtype=np.uint8)
    via[asked] = found.via
    destination = _destinations(is_web, is_outside, to, means_file, catalogue.note_count)
    is_image = _is_image(destination, to, names, catalogue)
    rows = pl.DataFrame(
        [
            pl.Series("order", np.arange(links.height, dtype=np.uint32)),
            *(column for column in links.iter_columns() if column.name not in {"target", "type"}),
            or_null(to).alias("target"),
            names.alias("name"),
            keys.alias("key"),
            pl.Series("via", via),
            pl.Series("is_ambiguous", is_ambiguous),
            pl.Series("destination", destination),
            pl.Series("is_image", is_image),
            _types(links, destination, is_image, profile).alias("type"),
        ]
    )
    # What is left without a name is a target like `.`: a folder, which no link means.
    lost = np.flatnonzero(to < 0)
    is_nothing = (names[lost] == "").to_numpy()
    if is_nothing.any():
        rows = rows_where(rows, ~_spread(is_nothing, lost, rows.height))
    return LinkRows(rows, rows_where(rows, rows["destination"].to_numpy() != Destination.NOTE.value))


def _is_any(destinations: npt.NDArray[np.uint8], *wanted: Destination) -> Flags:
    is_wanted = np.zeros(len(Destination), dtype=np.bool_)
    is_wanted[[destination.value for destination in wanted]] = True
    return is_wanted[destinations]


def _spread(flags: Flags, rows: Ids, count: int) -> Flags:
    """``flags`` at ``rows`` of ``count``, false elsewhere."""
    spread = np.zeros(count, dtype=np.bool_)
    spread[rows] = flags
    return spread


def _resolved(links: pl.DataFrame, catalogue: Catalogue, vault: Names) -> tuple[Found, Flags]:
    """What each link finds, row for row, and whether what is lost is a file; a note that is not there has its name and
    key without ``.md``."""
    syntax = links["syntax"].to_numpy()
    modes = np.full(len(LinkSyntax) + 1, Mode.WIKI.value, dtype=np.uint8)
    modes[LinkSyntax.MARKDOWN], modes[LinkSyntax.CANVAS] = Mode.MARKDOWN.value, Mode.CANVAS.value
    folders = taken(catalogue.folders, catalogue.folder_of[links["file"].to_numpy()])
    found = resolve(pl.DataFrame([links["target"], folders.alias("folder"), pl.Series("mode", modes[syntax])]), vault)
    means_file = np.zeros(links.height, dtype=np.bool_)
    # Only what is not found needs a word on what it would have been.
    lost = np.flatnonzero(found.file < 0)
    if not len(lost):
        return found, means_file
    named = np.unique(found.at[lost])
    at = np.searchsorted(named, found.at[lost])
    names, keys = taken(found.names, named), taken(found.keys, named)
    suffix = extension(names)
    known, is_file = has_known_extension(suffix).to_numpy(), ((suffix != "md") & suffix.is_not_null()).to_numpy()
    is_loose = links["is_embed"].to_numpy()[lost] | (_is_loose(syntax[lost]))
    means_file[lost] = known[at] | (is_loose & is_file[at])
    is_concept = ~found.is_outside[lost] & ~means_file[lost]
    found.at[lost[is_concept]] = len(found.names) + at[is_concept]
    bare_keys = pl.DataFrame({"key": keys}).select(pl.col("key").str.strip_suffix(".md"))["key"]
    found.names = joined(found.names, without_md(names))
    found.keys = joined(found.keys, bare_keys)
    return found, means_file


def _is_loose(syntax: npt.NDArray[np.uint8]) -> Flags:
    return (syntax == LinkSyntax.MARKDOWN) | (syntax == LinkSyntax.CANVAS)


def _destinations(
    is_web: Flags, is_outside: Flags, to: Ids, means_file: Flags, note_count: int
) -> npt.NDArray[np.uint8]:
    """The Destination of each link."""
    found = np.where(to < note_count, Destination.NOTE.value, Destination.FILE.value)
    lost = np.where(means_file, Destination.MISSING.value, Destination.CONCEPT.value)
    destination = np.where(to >= 0, found, lost)
    destination[is_outside] = Destination.OUTSIDE.value
    destination[is_web] = Destination.SOURCE.value
    return destination.astype(np.uint8)


def _is_image(destination: npt.NDArray[np.uint8], to: Ids, names: pl.Series, catalogue: Catalogue) -> Flags:
    at = np.flatnonzero(_is_any(destination, Destination.FILE, Destination.MISSING))
    is_image = np.zeros(len(destination), dtype=np.bool_)
    if len(at):
        paths = Texts()
        file, is_there = to[at], to[at] >= 0
        number = np.zeros(len(at), dtype=np.int64)
        number[is_there] = paths.numbers(taken(catalogue.files["path"], file[is_there]))
        number[~is_there] = paths.numbers(names[at[~is_there]])
        is_image[at] = (media_of(paths.distinct)["kind"] == "Image").to_numpy()[number]
    return is_image


def _types(links: pl.DataFrame, destination: npt.NDArray[np.uint8], is_image: Flags, profile: Profile) -> pl.Series:
    """The relationship type of each link, from the rule that goes before all others to the one that is always left."""
    types = Texts()
    plain, out, image, attachment, embeds = types.numbers(pl.Series(_TYPES)).tolist()
    syntax, is_embed = links["syntax"].to_numpy(), links["is_embed"].to_numpy()
    is_file = _is_any(destination, Destination.FILE, Destination.MISSING)
    number = np.full(links.height, plain, dtype=np.int64)
    if profile.heading_edges:
        heading = types.numbers(_heading_types(links["section"], profile))
        number = np.where(heading >= 0, heading, number)
    number[is_embed] = embeds
    number[is_file] = np.where(is_image[is_file], image, attachment)
    number[destination == Destination.SOURCE] = out
    if links["type"].null_count() < links.height:
        stated = types.numbers(links["type"])
        number = np.where((stated >= 0) & ~is_embed, stated, number)
    number[syntax == LinkSyntax.CANVAS] = plain
    # In a body only an inline field's link has a property.
    is_field = (syntax == LinkSyntax.WIKILINK) & ~is_embed & links["property"].is_not_null().to_numpy()
    at = np.flatnonzero((syntax == LinkSyntax.FRONTMATTER) | is_field)
    if len(at):
        keys = Texts()
        key = keys.numbers(links["property"][at])
        number[at] = np.append(types.numbers(_property_types(keys.distinct, profile)), NONE)[key]
    return taken(types.distinct, number)


def _property_types(keys: pl.Series, profile: Profile) -> pl.Series:
    """The type of a link in a property: of folder notes for ``parent``, of the hub, else the key in UPPER_SNAKE."""
    types = relationship_types(keys)
    configured = {key: hub.edge for key, hub in profile.hubs.items()} | {PARENT_KEY: profile.folder_notes.edge}
    for key, name in configured.items():
        types = pl.Series([name]).new_from_index(0, len(keys)).zip_with(keys == key, types)
    return types


def _heading_types(sections: pl.Series, profile: Profile) -> pl.Series:
    headings = Texts()
    at = headings.numbers(sections)
    types = fold(headings.distinct.str.strip_chars()).replace_strict(
        list(profile.heading_edges), list(profile.heading_edges.values()), default=None, return_dtype=pl.String
    )
    return taken(types, at)


def link_relationships(
    links: LinkRows, of_file: pl.Series, of_key: pl.DataFrame, profile: Profile
) -> list[pl.DataFrame]:
    """One row a relationship: source, target Int64 node ids, type, and properties.

    Between the same nodes they are in order of appearance.

    ``of_file``: node id by file row; ``of_key``: (space, key, id) of the nodes that are not files. The same target with
    another section, anchor or display is another relationship; otherwise repeats are counted.
    """
    rows = numbered_links(links, of_file, of_key)
    is_stated = (rows["syntax"] == LinkSyntax.FRONTMATTER).to_numpy()
    if profile.folder_notes.direction == "parent_to_child" and is_stated.any():
        swap = is_stated & (rows["property"] == PARENT_KEY).fill_null(False).to_numpy()
        source, target = rows["source"].to_numpy(), rows["target"].to_numpy()
        rows = rows.with_columns(
            source=pl.Series(np.where(swap, target, source)), target=pl.Series(np.where(swap, source, target))
        )
    is_attached = (rows["type"] == "HAS_IMAGE") | (rows["type"] == "HAS_ATTACHMENT")
    is_attached = (is_attached & (rows["syntax"] < LinkSyntax.FRONTMATTER)).to_numpy()
    attached = rows_where(rows, is_attached) if is_attached.any() else rows[:0]
    linked = columns_of(rows, *_SAME, "line", "via", "is_ambiguous")
    return [_linked(linked, np.flatnonzero(~is_attached)), _attached(attached)]


def numbered_links(links: LinkRows, of_file: pl.Series, of_key: pl.DataFrame) -> pl.DataFrame:
    """Link rows with ``source`` and ``target`` as node ids, type, syntax and what relationships carry; those that lead
    out of the vault are left out."""
    rows = links.rows
    destination = rows["destination"].to_numpy()
    is_inside = destination != Destination.OUTSIDE
    if not is_inside.all():
        rows, destination = rows_where(rows, is_inside), destination[is_inside]
    node_of_file = np.append(numbers_of(of_file), NONE)
    target = node_of_file[numbers_of(rows["target"])]
    others = np.flatnonzero(target < 0)
    if len(others):
        target[others] = _ids_of_keys(rows["key"][others], destination[others], of_key)
    if "node" in rows.columns:  # a part of the note, where the anchor names one
        node = numbers_of(rows["node"])
        target = np.where(node >= 0, node, target)
    source = node_of_file[rows["file"].to_numpy()]
    columns = [rows[name] for name in ("type", "syntax", *_CARRIED, *({PIECE} & set(rows.columns)))]
    return pl.DataFrame([pl.Series("source", source), pl.Series("target", target), *columns])


def _ids_of_keys(keys: pl.Series, destination: npt.NDArray[np.uint8], of_key: pl.DataFrame) -> Ids:
    """The nodes of links to what is no file, by key and destination."""
    texts = Texts()
    key = texts.numbers(keys)
    count = len(texts)
    ids = np.full((len(Destination), count + 1), NONE, dtype=np.int64)
    for space, of in (
        (Destination.MISSING, "missing"),
        (Destination.CONCEPT, "Concept"),
        (Destination.SOURCE, "Source"),
    ):
        if not (destination == space).any():
            continue
        own = rows_where(columns_of(of_key, "key", "id"), (of_key["space"] == of).to_numpy())
        at = texts.numbers(own["key"])
        is_asked = at < count
        ids[space, at[is_asked]] = own["id"].to_numpy()[is_asked]
    return ids[destination, key]


def _linked(rows: pl.DataFrame, at: Ids) -> pl.DataFrame:
    """The relationships that links at some of the ``rows`` are."""
    # Nearly all pairs of nodes have one link: only the others are compared as a whole.
    source, target = rows["source"].to_numpy()[at], rows["target"].to_numpy()[at]
    order = order_by(source, target)
    is_same = (source[order][1:] == source[order][:-1]) & (target[order][1:] == target[order][:-1])
    is_repeated = np.zeros(len(at), dtype=np.bool_)
    is_repeated[order[1:][is_same]] = True
    is_repeated[order[:-1][is_same]] = True
    single = rows_where(rows, _spread(~is_repeated, at, rows.height))
    counted = pl.Series("count", np.ones(single.height, dtype=np.int64))
    once = [*columns_of(single, *_SAME), single["line"].cast(pl.Int64), counted, single["via"], single["is_ambiguous"]]
    grouped = pl.DataFrame(once)
    if is_repeated.any():
        repeated = rows_at(rows, at[is_repeated]).group_by(_SAME, maintain_order=True)
        lines, count = pl.col("line").cast(pl.Int64).min(), pl.len().cast(pl.Int64).alias("count")
        often = repeated.agg(lines, count, pl.col("via").min(), pl.col("is_ambiguous").all())
        grouped = pl.concat([grouped, often], rechunk=True)
    via = taken(pl.Series("via", _VIA), grouped["via"].to_numpy().astype(np.int64) - 1)
    ambiguous = true_or_null(grouped["is_ambiguous"].to_numpy())
    return pl.DataFrame([*columns_of(grouped, *_SAME, "line", "count"), via, ambiguous.alias("ambiguous")])


def _attached(rows: pl.DataFrame) -> pl.DataFrame:
    """HAS_IMAGE and HAS_ATTACHMENT; ``ordinal`` counts the files of a note from 0, by type, in order of appearance."""
    if not rows.height:
        return _ATTACHED.to_frame()
    rows = rows.rename({"display": "alt"})
    key = ["source", "target", "type", "section", "anchor", "alt", "width", "height"]
    grouped = rows.group_by(key, maintain_order=True).agg(
        pl.col("line").min().cast(pl.Int64), pl.len().cast(pl.Int64).alias("count"), pl.col("is_ambiguous").all()
    )
    source, kind = grouped["source"].to_numpy(), Texts().numbers(grouped["type"])
    order = order_by(source, kind)
    starts = np.flatnonzero((np.diff(source[order], prepend=NONE) != 0) | (np.diff(kind[order], prepend=NONE) != 0))
    ordinal = np.empty(len(order), dtype=np.int64)
    ordinal[order] = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    ambiguous = true_or_null(grouped["is_ambiguous"].to_numpy()).alias("ambiguous")
    sizes = [grouped[name].cast(pl.Int64) for name in ("width", "height")]
    whole = columns_of(grouped, *key[:-2])
    return pl.DataFrame([*whole, *sizes, grouped["line"], grouped["count"], pl.Series("ordinal", ordinal), ambiguous])
