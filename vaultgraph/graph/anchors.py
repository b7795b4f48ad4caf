"""Anchors: whether the heading or block a link names exists in its target.

Only reports; a link keeps its anchor either way. Headings are compared as Obsidian does for subpaths: without case,
punctuation and spaces, so that a heading's text and its web slug are the same.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import fold
from vaultgraph.graph.texts import Texts, rows_at, taken
from vaultgraph.note.alone import TEXTS, made_of

_MOST_KEYS: Final = 2**31
_DROPPED: Final = r"[\s\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]+"
_BARE: Final = TEXTS.str.replace_all(_DROPPED, "")
_PARTS: Final = TEXTS.str.split("#")
_IS_BLOCK: Final = TEXTS.str.strip_chars_start().str.starts_with("^")
_BLOCK: Final = TEXTS.str.strip_chars().str.strip_chars_start("^")


def missing_anchors(links: pl.DataFrame, headings: pl.DataFrame, blocks: pl.DataFrame) -> pl.DataFrame:
    """The rows of ``links`` (target Int64 file row of a note, anchor) whose anchor the target lacks, order kept.

    ``headings``: (file, text) and ``blocks``: (file, id), for the notes of the graph. Of ``A#B`` each part must be a
    heading of the target; ``^id`` must be a block.
    """
    anchors = Texts()
    anchors.numbers(pl.Series([""]))
    anchor = anchors.numbers(links["anchor"])
    rows = np.flatnonzero(anchor > 0)  # neither null nor empty
    if not len(rows):
        return links.clear()
    count = len(anchors)
    target = links["target"].to_numpy()[rows]
    pairs, place = np.unique(target * count + anchor[rows], return_inverse=True)
    keys = Texts()
    of_anchor, part = _parts(anchors.distinct, keys)
    known = np.sort(np.concatenate(_present(np.unique(target), headings, blocks, keys)))
    # Every part of the anchor of each pair of target and anchor.
    firsts = np.searchsorted(of_anchor, np.arange(count + 1))
    counts = np.diff(firsts)[pairs % count]
    pair = np.repeat(np.arange(len(pairs)), counts)
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    wanted = (pairs // count)[pair] * 2 * _MOST_KEYS + part[firsts[pairs % count][pair] + within]
    is_lacking = np.zeros(len(pairs), dtype=np.bool_)
    found = np.append(known, -1)[np.searchsorted(known, wanted)]
    is_lacking[pair[found != wanted]] = True
    return rows_at(links, rows[is_lacking[place]])


def _parts(anchors: pl.Series, keys: Texts) -> tuple[Ids, Ids]:
    """The parts of each anchor, in order: its row, and what is looked for, as ``_present`` gives it."""
    split = made_of(anchors, _PARTS)
    at = np.repeat(np.arange(len(anchors)), split.list.len().to_numpy())
    part = split.explode()
    is_part = part != ""
    at, part = at[is_part.to_numpy()], part.filter(is_part)
    is_block = made_of(part, _IS_BLOCK).to_numpy()
    number = np.empty(len(part), dtype=np.int64)
    blocks, headings = np.flatnonzero(is_block), np.flatnonzero(~is_block)
    number[blocks] = _MOST_KEYS + keys.numbers(fold(made_of(taken(part, blocks), _BLOCK)))
    number[headings] = keys.numbers(heading_keys(taken(part, headings)))
    return at, number


def _present(targets: Ids, headings: pl.DataFrame, blocks: pl.DataFrame, keys: Texts) -> list[Ids]:
    """What of ``keys`` the ``targets`` have, as numbers: of the file, whether it is a block, and of the key."""
    count = len(keys)
    found: list[Ids] = []
    for frame, name, key_of, kind in ((headings, "text", heading_keys, 0), (blocks, "id", fold, _MOST_KEYS)):
        file = frame["file"].to_numpy()
        rows = np.flatnonzero(np.isin(file, targets))
        texts = Texts()
        at = texts.numbers(frame[name][rows])
        key = keys.numbers(key_of(texts.distinct))[at] if len(rows) else at
        is_asked = key < count
        found.append(file[rows[is_asked]] * 2 * _MOST_KEYS + kind + key[is_asked])
    return found


def heading_keys(texts: pl.Series) -> pl.Series:
    """The keys under which headings and the parts of anchors are compared, same length and order."""
    folded = fold(texts)
    bare = made_of(folded, _BARE)
    lost = (bare == "").arg_true()
    return bare.scatter(lost, folded[lost]) if len(lost) else bare
