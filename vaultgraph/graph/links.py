"""Links as rows: what each one leads to, and the relationship it becomes.

Takes link rows of the records, resolves their distinct targets with resolve.py and sorts them by destination. Ends are
file rows or keys; `link_relationships` makes relationships of them once nodes.py has numbered the nodes.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.media import has_known_extension, media_of
from vaultgraph.graph.names import extension, fold, relationship_types, without_md
from vaultgraph.graph.resolve import Mode, resolve
from vaultgraph.note.records import LinkSyntax
from vaultgraph.profile.settings import Profile

PARENT_KEY: Final = "parent"
PIECE: Final = (
    "piece"  # column of link rows where a profile reads tables as relationships: the piece a TABLE link is of
)
_CARRIED: Final = (
    "section", "anchor", "display", "property", "width", "height", "line", "via", "is_ambiguous",
)  # fmt: skip


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

    def towards(self, *destinations: Destination) -> pl.DataFrame:
        """The rows that lead to one of ``destinations``."""
        rows = self.rows if Destination.NOTE in destinations else self.elsewhere
        wanted = np.zeros(len(Destination), dtype=np.bool_)
        wanted[[destination.value for destination in destinations]] = True
        return rows.filter(pl.Series(wanted[rows["destination"].to_numpy()]))


def link_rows(links: pl.DataFrame, catalogue: Catalogue, called: pl.DataFrame, profile: Profile) -> LinkRows:
    """All links of the graph with their destinations; ``links``: record rows with ``file`` in place of ``note``."""
    is_folder = (links["syntax"] == LinkSyntax.MARKDOWN) & links["target"].str.ends_with("/")
    rows = links.filter(~is_folder).with_row_index("order")
    is_self, is_web = pl.col("target") == "", pl.col("syntax") == LinkSyntax.URL
    asked = rows.filter(~is_self & ~is_web)
    found = _resolved(asked, catalogue, called).with_columns(asked["order"])
    rows = rows.join(found, on="order", how="left", maintain_order="left").with_columns(
        to=pl.when(is_self).then("file").otherwise("to"),
        name=pl.when(is_web).then("target").otherwise("name"),
        key=pl.when(is_web).then("target").otherwise("key"),
        via=pl.col("via").fill_null(0),
        is_ambiguous=pl.col("is_ambiguous").fill_null(False),
    )
    rows = rows.with_columns(destination=_destinations(catalogue))
    # What is left without a name is a target like `.`: a folder, which no link means.
    rows = rows.filter(pl.col("to").is_not_null() | (pl.col("name") != ""))
    rows = rows.drop("target", "is_outside", "means_file").rename({"to": "target", "type": "stated_type"})
    rows = rows.with_columns(is_image=_is_image(rows, catalogue))
    rows = rows.with_columns(type=_types(rows, profile))
    return LinkRows(rows, rows.filter(pl.col("destination") != Destination.NOTE.value))


def _resolved(links: pl.DataFrame, catalogue: Catalogue, called: pl.DataFrame) -> pl.DataFrame:
    """What each link finds, row for row: to (file row), via, is_ambiguous, is_outside, means_file, name, key."""
    syntax = pl.col("syntax")
    mode = (
        pl.when(syntax == LinkSyntax.MARKDOWN)
        .then(Mode.MARKDOWN.value)
        .when(syntax == LinkSyntax.CANVAS)
        .then(Mode.CANVAS.value)
        .otherwise(Mode.WIKI.value)
        .cast(pl.UInt8)
    )
    asked = links.select("target", folder=catalogue.files["folder"].gather(links["file"]), mode=mode)
    found = resolve(asked, catalogue, called).rename({"file": "to"})
    # Only what is not found needs a word on what it would have been.
    lost = pl.DataFrame({"name": found.filter(pl.col("to").is_null())["name"].unique()})
    suffix = extension(lost["name"])
    lost = lost.with_columns(
        is_known=has_known_extension(lost["name"]), is_file=suffix.is_not_null() & (suffix != "md").fill_null(False)
    )
    loose = links["is_embed"] | links["syntax"].is_in([LinkSyntax.MARKDOWN, LinkSyntax.CANVAS])
    found = found.join(lost, on="name", how="left", maintain_order="left")
    found = found.with_columns(means_file=pl.col("is_known") | (loose & pl.col("is_file")))
    is_concept = pl.col("to").is_null() & ~pl.col("is_outside") & ~pl.col("means_file")
    return found.select(
        "to",
        "via",
        "is_ambiguous",
        "is_outside",
        "means_file",
        name=pl.when(is_concept).then(without_md(found["name"])).otherwise("name"),
        key=pl.when(is_concept).then(pl.col("key").str.strip_suffix(".md")).otherwise("key"),
    )


def _destinations(catalogue: Catalogue) -> pl.Expr:
    """The Destination of rows with syntax, to, is_outside and means_file."""
    return (
        pl.when(pl.col("syntax") == LinkSyntax.URL)
        .then(Destination.SOURCE.value)
        .when("is_outside")
        .then(Destination.OUTSIDE.value)
        .when(pl.col("to") < catalogue.note_count)
        .then(Destination.NOTE.value)
        .when(pl.col("to").is_not_null())
        .then(Destination.FILE.value)
        .when("means_file")
        .then(Destination.MISSING.value)
        .otherwise(Destination.CONCEPT.value)
        .cast(pl.UInt8)
    )


def _is_image(rows: pl.DataFrame, catalogue: Catalogue) -> pl.Series:
    at = np.flatnonzero(np.isin(rows["destination"].to_numpy(), [Destination.FILE.value, Destination.MISSING.value]))
    is_image = np.zeros(rows.height, dtype=np.bool_)
    if len(at):
        files = rows.select("target", "name")[at]
        paths = files.select(pl.coalesce(catalogue.files["path"].gather(files["target"]), "name").alias("path"))["path"]
        distinct = paths.unique()
        images = distinct.filter(media_of(distinct)["kind"] == "Image")
        is_image[at] = paths.is_in(images.implode()).to_numpy()
    return pl.Series(is_image)


def _types(rows: pl.DataFrame, profile: Profile) -> pl.Expr:
    """The relationship type of each link row."""
    destination, syntax = pl.col("destination"), pl.col("syntax")
    is_file = destination.is_in([Destination.FILE.value, Destination.MISSING.value])
    attached = pl.when(rows["is_image"]).then(pl.lit("HAS_IMAGE")).otherwise(pl.lit("HAS_ATTACHMENT"))
    # In a body only an inline field's link has a property.
    is_field = (syntax == LinkSyntax.WIKILINK) & pl.col("property").is_not_null() & ~pl.col("is_embed")
    return (
        pl.when((syntax == LinkSyntax.FRONTMATTER) | is_field)
        .then(_property_types(rows["property"], profile))
        .when(syntax == LinkSyntax.CANVAS)
        .then(pl.lit("LINKS_TO"))
        .when(pl.col("stated_type").is_not_null() & ~pl.col("is_embed"))
        .then("stated_type")
        .when(destination == Destination.SOURCE)
        .then(pl.lit("LINKS_OUT"))
        .when(is_file)
        .then(attached)
        .when("is_embed")
        .then(pl.lit("EMBEDS"))
        .otherwise(pl.coalesce(_heading_types(rows["section"], profile), pl.lit("LINKS_TO")))
    )


def _property_types(properties: pl.Series, profile: Profile) -> pl.Series:
    """The type of a link in a property: of folder notes for ``parent``, of the hub, else the key in UPPER_SNAKE."""
    keys = properties.drop_nulls().unique()
    configured = {key: hub.edge for key, hub in profile.hubs.items()} | {PARENT_KEY: profile.folder_notes.edge}
    types = keys.replace_strict(
        list(configured), list(configured.values()), default=relationship_types(keys), return_dtype=pl.String
    )
    return properties.replace_strict(keys, types, default=None, return_dtype=pl.String)


def _heading_types(sections: pl.Series, profile: Profile) -> pl.Series:
    if not profile.heading_edges:
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(sections))
    headings = sections.drop_nulls().unique()
    types = fold(headings.str.strip_chars()).replace_strict(
        list(profile.heading_edges), list(profile.heading_edges.values()), default=None, return_dtype=pl.String
    )
    return sections.replace_strict(headings, types, default=None, return_dtype=pl.String)


def link_relationships(
    links: LinkRows, of_file: pl.Series, of_key: pl.DataFrame, profile: Profile
) -> list[pl.DataFrame]:
    """One row a relationship: source, target Int64 node ids, type, and properties.

    Between the same nodes they are in order of appearance.

    ``of_file``: node id by file row; ``of_key``: (space, key, id) of the nodes that are not files. The same target with
    another section, anchor or display is another relationship; otherwise repeats are counted.
    """
    rows = numbered_links(links, of_file, of_key)
    is_upward = (pl.col("property") == PARENT_KEY) & (pl.col("syntax") == LinkSyntax.FRONTMATTER)
    if profile.folder_notes.direction == "parent_to_child":
        swap = is_upward.fill_null(False)
        rows = rows.with_columns(
            source=pl.when(swap).then("target").otherwise("source"),
            target=pl.when(swap).then("source").otherwise("target"),
        )
    is_attached = pl.col("type").is_in(["HAS_IMAGE", "HAS_ATTACHMENT"]) & (pl.col("syntax") < LinkSyntax.FRONTMATTER)
    return [_linked(rows.filter(~is_attached)), _attached(rows.filter(is_attached))]


def numbered_links(links: LinkRows, of_file: pl.Series, of_key: pl.DataFrame) -> pl.DataFrame:
    """Link rows with ``source`` and ``target`` as node ids, type, syntax and what relationships carry; those that lead
    out of the vault are left out."""
    rows = links.rows.filter(pl.col("destination") != Destination.OUTSIDE)
    target = of_file.gather(rows["target"])
    others = target.is_null().arg_true()
    if len(others):
        space = pl.col("destination").replace_strict(
            {
                Destination.MISSING.value: "missing",
                Destination.CONCEPT.value: "Concept",
                Destination.SOURCE.value: "Source",
            },
            default=None,
            return_dtype=pl.String,
        )
        asked = rows.select("destination", "key")[others].with_columns(space=space)
        found = asked.join(of_key, on=["space", "key"], how="left", maintain_order="left")
        target = target.clone().scatter(others, found["id"])
    if "node" in rows.columns:  # a part of the note, where the anchor names one
        target = pl.select(pl.coalesce(rows["node"], target)).to_series()
    columns = [rows[name] for name in ("type", "syntax", *_CARRIED, *({PIECE} & set(rows.columns)))]
    return pl.DataFrame([of_file.gather(rows["file"]).alias("source"), target.alias("target"), *columns])


def _linked(rows: pl.DataFrame) -> pl.DataFrame:
    key = ["source", "target", "type", "section", "anchor", "display", "property"]
    # Nearly all pairs of nodes have one link: only the others are compared as a whole.
    is_repeated = pl.Series(rows["source"].to_numpy() << 32 | rows["target"].to_numpy()).is_duplicated()
    repeated = rows.filter(is_repeated).group_by(key, maintain_order=True)
    lines = pl.col("line").cast(pl.Int64)
    grouped = pl.concat(
        [
            rows.filter(~is_repeated).select(*key, lines, pl.lit(1, pl.Int64).alias("count"), "via", "is_ambiguous"),
            repeated.agg(
                lines.min(), pl.len().cast(pl.Int64).alias("count"), pl.col("via").min(), pl.col("is_ambiguous").all()
            ),
        ]
    )
    return grouped.with_columns(
        via=pl.col("via").replace_strict({1: "alias", 2: "title", 3: "slug"}, default=None, return_dtype=pl.String),
        ambiguous=pl.when("is_ambiguous").then(True),
    ).drop("is_ambiguous")


def _attached(rows: pl.DataFrame) -> pl.DataFrame:
    """HAS_IMAGE and HAS_ATTACHMENT; ``ordinal`` counts the files of a note from 0, by type, in order of appearance."""
    rows = rows.rename({"display": "alt"})
    key = ["source", "target", "type", "section", "anchor", "alt", "width", "height"]
    grouped = rows.group_by(key, maintain_order=True).agg(
        pl.col("line").min().cast(pl.Int64), pl.len().cast(pl.Int64).alias("count"), pl.col("is_ambiguous").all()
    )
    return grouped.with_columns(
        pl.col("width", "height").cast(pl.Int64),
        ordinal=pl.int_range(pl.len(), dtype=pl.Int64).over("source", "type"),
        ambiguous=pl.when("is_ambiguous").then(True),
    ).drop("is_ambiguous")
