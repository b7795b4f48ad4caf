"""Anchors that name a part of a note which is a node: the link then leads to that node.

Works on the link rows once pieces have their numbers. Headings are compared as in anchors.py; what an anchor names that
is no node leaves its link at the note.
"""

from itertools import combinations
from typing import Final

import polars as pl

from vaultgraph.graph.anchors import heading_keys
from vaultgraph.graph.links import Destination, LinkRows
from vaultgraph.graph.names import fold
from vaultgraph.graph.pieces import Pieces
from vaultgraph.note.records import PieceKind

_DEEPEST: Final = 6  # levels of headings, so the longest path an anchor can name
_JOINT: Final = "\n"  # in no heading


def with_anchored_nodes(links: LinkRows, pieces: Pieces) -> LinkRows:
    """``links`` with the column ``node`` Int64 in its rows: the node its anchor names, null for none.

    Of ``A#B`` the last part is the heading, the parts before it headings around it, in order; the first such heading of
    the note counts. ``^id`` is the part with that block id, a chunk before others.
    """
    is_meant = (pl.col("destination") == Destination.NOTE) & (pl.col("anchor").fill_null("") != "")
    asked = links.rows.filter(is_meant).select("target", "anchor").unique(maintain_order=True)
    parts = asked.with_columns(part=pl.col("anchor").str.split("#")).explode("part", empty_as_null=True)
    parts = parts.with_columns(part=pl.col("part").fill_null("").str.strip_chars()).filter(pl.col("part") != "")
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
    sections = sections.with_row_index("section")
    titles = sections.select("section", part="headings").explode("part", empty_as_null=True).drop_nulls()
    titles = titles.with_columns(key=heading_keys(titles["part"]))
    paths = titles.group_by("section", maintain_order=True).agg("key")
    known = sections.select("section", "file", "node").join(paths, on="section", maintain_order="left")
    length = asked["key"].list.len()
    found = [asked.select("target", "anchor", node=pl.lit(None, pl.Int64)).clear()]
    for parts in sorted(set(length.to_list()) & set(range(1, _DEEPEST + 1))):  # row loop: one step a length of paths
        wanted = asked.filter(length == parts).select("target", "anchor", path=pl.col("key").list.join(_JOINT))
        ways = _ways(known, parts, wanted["path"])
        found.append(
            wanted.join(ways, left_on=["target", "path"], right_on=["file", "path"]).select("target", "anchor", "node")
        )
    return pl.concat(found)


def _ways(sections: pl.DataFrame, parts: int, wanted: pl.Series) -> pl.DataFrame:
    """(file, path, node): the first section that each wanted path of ``parts`` keys leads to; node maybe null.

    A section is reached by its own key after any choice, in order, of the keys around it: at most ten choices.
    """
    chosen: list[pl.DataFrame] = []
    depth = sections["key"].list.len()
    for level in range(parts, _DEEPEST + 1):  # row loop: one step a level of headings, below it one a choice
        rows = sections.filter(depth == level)
        for before in combinations(range(level - 1), parts - 1):
            path = pl.col("key").list.gather([*before, level - 1]).list.join(_JOINT)
            ways = rows.select("section", "file", "node", path=path)
            chosen.append(ways.filter(pl.col("path").is_in(wanted.implode())))
    ways = pl.concat(chosen).sort("section").unique(["file", "path"], keep="first", maintain_order=True)
    return ways.select("file", "path", "node")
