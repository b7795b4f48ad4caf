"""Anchors: whether the heading or block a link names exists in its target.

Only reports; a link keeps its anchor either way. Headings are compared as Obsidian does for subpaths: without case,
punctuation and spaces, so that a heading's text and its web slug are the same.
"""

from typing import Final

import polars as pl

from vaultgraph.graph.names import fold

_DROPPED: Final = r"[\s\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]+"


def missing_anchors(links: pl.DataFrame, headings: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``links`` (target Int64 file row of a note, anchor) whose anchor the target lacks, order kept.

    ``headings``: (file, text) and ``blocks``: (file, id), for the notes of the graph. Of ``A#B`` each part must be a
    heading of the target; ``^id`` must be a block.
    """
    asked = links.filter(pl.col("anchor").fill_null("") != "").select("target", "anchor").unique()
    if not asked.height:
        return links.clear()
    parts = asked.with_columns(part=pl.col("anchor").str.split("#")).explode("part").filter(pl.col("part") != "")
    parts = parts.with_columns(is_block=pl.col("part").str.strip_chars_start().str.starts_with("^"))
    reached = asked["target"].unique().implode()
    headings, blocks = headings.filter(pl.col("file").is_in(reached)), blocks.filter(pl.col("file").is_in(reached))
    present = pl.concat(
        [
            headings.select(target="file", is_block=pl.lit(False), key=heading_keys(headings["text"])),
            blocks.select(target="file", is_block=pl.lit(True), key=fold(blocks["id"])),
        ]
    ).unique()
    block_key = fold(parts["part"].str.strip_chars().str.strip_chars_start("^"))
    key = pl.when("is_block").then(block_key).otherwise(heading_keys(parts["part"]))
    lacking = parts.with_columns(key=key).join(present, on=["target", "is_block", "key"], how="anti")
    return links.join(
        lacking.select("target", "anchor").unique(), on=["target", "anchor"], how="semi", maintain_order="left"
    )


def heading_keys(texts: pl.Series) -> pl.Series:
    """The keys under which headings and the parts of anchors are compared, same length and order."""
    folded = fold(texts)
    bare = folded.str.replace_all(_DROPPED, "")
    return pl.select(pl.when(bare != "").then(bare).otherwise(folded)).to_series()
