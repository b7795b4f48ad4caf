"""Anchors that name a part of a note which is a node: the link then leads to that node.

Works on the link rows once pieces have their numbers. Headings are compared as in anchors.py; what an anchor names that
is no node leaves its link at the note.
"""

from itertools import combinations

import polars as pl

from vaultgraph.graph.anchors import heading_keys
from vaultgraph.graph.heading_paths import DEEPEST, MOST_TITLE
from vaultgraph.graph.links import Destination, LinkRows
from vaultgraph.graph.names import fold
from vaultgraph.graph.pieces import Pieces
from vaultgraph.note.records import PieceKind


def with_anchored_nodes(links: LinkRows, pieces: Pieces) -> LinkRows:
    """``links`` with the column ``node`` Int64 in its rows: the node its anchor names, null for none.

    Of ``A#B`` the last part is the heading, the parts before it headings around it, in order; the first such heading of
    the note counts. ``^id`` is the part with that block id, a chunk before others.
    """
    is_meant = (pl.col("destination") == Destination.NOTE) & (pl.col("anchor").fill_null("") != "")
    asked = links.rows.filter(is_meant).select("target", "anchor").unique(maintain_order=True)
    parts = asked.with_columns(part=pl.col("anchor").str.split("#")).explode("part", empty_as_null=True)
    parts = parts.with_columns(part=pl.col("part").fill_null("").str.strip_chars()).filter(pl.col("part") != "")
    last = pl.int_range(pl.len()).over("target", "anchor") == pl.len().over("target", "anchor") - 1
    # Headings around another are known by their beginnings.
    parts = parts.with_columns(part=pl.when(last).then("part").otherwise(pl.col("part").str.slice(0, MOST_TITLE)))
    parts = parts.with_columns(key=heading_keys(parts["part"]))
    whole = parts.group_by("target", "anchor", maintain_order=True).agg("key", last=pl.col("part").last())
    is_block = whole["last"].str.starts_with("^")
    found = pl.concat([_blocks(whole.filter(is_block), pieces), _headings(whole.filter(~is_block), pieces)])
    rows = links.rows.join(found, on=["target", "anchor"], how="left", maintain_order="left")
    rows = rows.with_columns(node=pl.when(is_meant).then("node"))
    return LinkRows(rows, links.elsewhere.with_columns(node=pl.lit(None, pl.Int64)))


def _blocks(asked: pl.DataFrame, pieces: Pieces) -> pl.DataFrame:
    """(target, anchor, node) of anchors whose last part is a block."""
    named = pieces.rows.filter(pl.col("block").is_not_null()).select("file", "block", "kind", "piece", "node")
    named = named.with_columns(key=fold(named["block"])).sort(pl.col("kind") != PieceKind.CHUNK, "piece")
    first = named.unique(["file", "key"], keep="first", maintain_order=True).select("file", "key", "node")
    keys = fold(asked["last"].str.strip_chars_start("^").str.strip_chars())
    wanted = asked.select("target", "anchor", key=keys)
    return wanted.join(first, left_on=["target", "key"], right_on=["file", "key"]).select("target", "anchor", "node")


def _headings(asked: pl.DataFrame, pieces: Pieces) -> pl.DataFrame:
    """(target, anchor, node) of anchors that are a heading path."""
    sections = pieces.sections.filter(pl.col("file").is_in(asked["target"].unique().implode()))
    sections = sections.with_row_index("section").with_columns(depth=pl.col("headings").list.len())
    # Of its own title a section knows all, of those around it the beginnings.
    titles = sections.select("section", part=pl.col("headings").list.head(pl.col("depth") - 1))
    titles = titles.explode("part", empty_as_null=True).drop_nulls()
    titles = titles.with_columns(key=heading_keys(titles["part"]))
    around = titles.group_by("section", maintain_order=True).agg("key")
    known = sections.with_columns(own=heading_keys(sections["title"].fill_null("")))
    known = known.join(around, on="section", how="left", maintain_order="left")
    length = asked["key"].list.len()
    found = [asked.select("target", "anchor", node=pl.lit(None, pl.Int64)).clear()]
    for parts in sorted(set(length.to_list()) & set(range(1, DEEPEST + 1))):  # row loop: one step a length of paths
        names = [f"key{at}" for at in range(parts)]
        keys = [pl.col("key").list.get(at).alias(name) for at, name in enumerate(names)]
        wanted = asked.filter(length == parts).select("target", "anchor", *keys)
        ways = _ways(known, wanted, names)
        joined = wanted.join(ways, left_on=["target", *names], right_on=["file", *names])
        found.append(joined.select("target", "anchor", "node"))
    return pl.concat(found)


def _ways(sections: pl.DataFrame, wanted: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """(file, node, *names): the first section that each wanted path leads to; node maybe null.

    A section is reached by its own key after any choice, in order, of the keys around it: at most ten choices.
    """
    chosen: list[pl.DataFrame] = []
    for depth in range(len(names), DEEPEST + 1):  # row loop: one step a level of headings, below it one a choice
        rows = sections.filter(pl.col("depth") == depth)
        for places in combinations(range(depth - 1), len(names) - 1):
            around = [pl.col("key").list.get(at).alias(name) for at, name in zip(places, names, strict=False)]
            ways = rows.select("section", "file", "node", *around, pl.col("own").alias(names[-1]))
            chosen.append(ways.join(wanted, left_on=["file", *names], right_on=["target", *names], how="semi"))
    ways = pl.concat(chosen).sort("section").unique(["file", *names], keep="first", maintain_order=True)
    return ways.select("file", "node", *names)
