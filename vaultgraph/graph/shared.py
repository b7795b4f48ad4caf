"""Shared nodes: tags and hubs, where one value written in many notes is one node.

A tag is the hub every vault has: label Tag, case-insensitive, nested by ``/``; tags below a prefix may have a label and
a type of their own. Mentions become relationships, keys become nodes; links.py and nodes.py never look at tags. Ends
are given as keys; nodes.py numbers them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import WIKILINK, fold
from vaultgraph.graph.texts import NONE, Texts, columns_of, order_by, rows_at, rows_where, taken
from vaultgraph.note.records import ValueKind
from vaultgraph.profile.settings import Profile

TAG: Final = "Tag"
TAGGED: Final = "TAGGED"
CHILD_OF: Final = "CHILD_OF"


_WRITTEN: Final = pl.Schema(
    {
        "file": pl.Int64,
        "line": pl.Int32,
        "label": pl.String,
        "key": pl.String,
        "spelling": pl.String,
        "type": pl.String,
        "property": pl.String,
    }
)
_NESTED: Final = pl.Schema({"label": pl.String, "key": pl.String, "parent": pl.String})
_PARENTS: Final = pl.Schema(
    {"label": pl.String, "key": pl.String, "spelling": pl.String, "uses": pl.UInt32, "is_parent": pl.Boolean}
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """Who mentions what. ``rows``: file, line, property; ``name``: the row of each in ``names``: label, key, spelling
    and type, which may repeat."""

    rows: pl.DataFrame
    name: Ids
    names: pl.DataFrame

    def clear(self) -> "Mentions":
        """None of them."""
        return Mentions(self.rows.clear(), self.name[:0], self.names.clear())


@dataclass(frozen=True, slots=True)
class Shared:
    """``nodes``: (label, key, title) sorted by label and key. ``mentions``: distinct by file, label, key and type,
    with the first line and property. ``nested``: (label, key, parent) of tags, distinct, in any order.

    ``used``: how often each spelling is written, (label, key, spelling, uses), in any order.
    """

    nodes: pl.DataFrame
    mentions: Mentions
    nested: pl.DataFrame
    used: pl.DataFrame


def shared_nodes(tags: pl.DataFrame, properties: pl.DataFrame, profile: Profile) -> Shared:
    """Tags and hubs of a vault; ``tags`` and ``properties`` are record rows with ``file`` in place of ``note``."""
    written = _written(tags, properties, profile)
    return shared_of(_uses(written), _distinct(written), profile)


def written_mentions(tags: pl.DataFrame, properties: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """A row for each tag and each value of a hub as written: file, line, label, key, spelling, type, property."""
    written = _written(tags, properties, profile)
    names = (taken(written.names[name], written.name) for name in ("label", "key", "spelling", "type"))
    rows = written.rows
    return pl.DataFrame([rows["file"], rows["line"], *names, rows["property"]])


def mention_types(profile: Profile) -> set[str]:
    """The types mentions of shared nodes may have."""
    rules = (*profile.tag_labels.values(), *profile.hubs.values())
    return {TAGGED, *(rule.edge for rule in rules)}


def uses_of(written: pl.DataFrame) -> pl.DataFrame:
    """`Shared.used` of written mentions."""
    return _uses(_of_rows(written))


def distinct_mentions(written: pl.DataFrame) -> Mentions:
    """`Shared.mentions` of written mentions."""
    return _distinct(_of_rows(written))


def _of_rows(written: pl.DataFrame) -> Mentions:
    names = columns_of(written, "label", "key", "spelling", "type")
    return Mentions(columns_of(written, "file", "line", "property"), np.arange(written.height), names)


def _written(tags: pl.DataFrame, properties: pl.DataFrame, profile: Profile) -> Mentions:
    parts = [_tag_mentions(tags, profile)]
    parts += [_of_rows(_hub_mentions(properties, key, profile)) for key in sorted(profile.hubs)]
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(part.names.height for part in parts)])
    return Mentions(
        pl.concat([part.rows for part in parts], rechunk=True),
        np.concatenate([part.name + first for part, first in zip(parts, before, strict=False)]),
        pl.concat([part.names for part in parts], rechunk=True),
    )


def _uses(written: Mentions) -> pl.DataFrame:
    """`Shared.used` of mentions."""
    names = written.names
    order, starts = _groups(*(Texts().numbers(names[name]) for name in ("label", "key", "spelling")))
    uses = np.bincount(written.name, minlength=names.height)[order]
    uses = np.add.reduceat(uses, starts) if len(starts) else uses
    used = rows_at(columns_of(names, "label", "key", "spelling"), order[starts])
    return used.with_columns(pl.Series("uses", uses.astype(np.uint32)))


def _distinct(written: Mentions) -> Mentions:
    """`Shared.mentions` of mentions."""
    names = written.names
    order, starts = _groups(*(Texts().numbers(names[name]) for name in ("label", "key", "type")))
    first = np.empty(names.height, dtype=np.int64)  # the row of the first of equal names
    first[order] = np.repeat(order[starts], np.diff(starts, append=len(order)))
    name = first[written.name]
    order, starts = _groups(written.rows["file"].to_numpy(), name)
    is_repeated = np.repeat(counts := np.diff(starts, append=len(order)), counts) > 1
    rows = pl.DataFrame([written.rows["file"], pl.Series("name", name), *columns_of(written.rows, "line", "property")])
    mentions = rows_at(rows, order[~is_repeated])
    if is_repeated.any():
        often = rows_at(rows, order[is_repeated]).group_by("file", "name")
        often = often.agg(pl.col("line").min(), pl.col("property").first(ignore_nulls=True))
        mentions = pl.concat([mentions, often], rechunk=True)
    return Mentions(columns_of(mentions, "file", "line", "property"), mentions["name"].to_numpy(), names)


def _groups(*keys: Ids) -> tuple[Ids, Ids]:
    """The order of rows by ``keys``, and where in it each group of rows with the same keys starts."""
    order = order_by(*keys)
    is_first = np.zeros(len(order), dtype=np.bool_)
    for key in keys:
        is_first |= np.diff(key[order], prepend=NONE) != 0
    return order, np.flatnonzero(is_first)


def shared_of(used: pl.DataFrame, mentions: Mentions, profile: Profile) -> Shared:
    """The nodes of the spellings ``used``, with ``mentions``, which may be those of some notes only."""
    spelled = used.with_columns(is_parent=pl.lit(False))
    is_nested = used["key"].str.contains("/", literal=True) & used["label"].is_in(tag_like_labels(profile))
    nested, parents = _nesting(columns_of(rows_where(used, is_nested.to_numpy()), "label", "key", "spelling", "uses"))
    every = pl.concat([spelled, columns_of(parents, *spelled.columns)]) if parents.height else spelled
    every = every.sort("label", "key", "is_parent", "uses", "spelling", descending=[False, False, False, True, False])
    label, key = (Texts().numbers(every[name]) for name in ("label", "key"))
    is_first = (np.diff(label, prepend=NONE) != 0) | (np.diff(key, prepend=NONE) != 0)
    nodes = rows_where(pl.DataFrame([every["label"], every["key"], every["spelling"].alias("title")]), is_first)
    return Shared(nodes=nodes, mentions=mentions, nested=nested, used=used)


def tag_like_labels(profile: Profile) -> list[str]:
    """Labels whose keys are folded and nested by ``/``: Tag, and those that tags below a prefix have."""
    return sorted({TAG, *(rule.label for rule in profile.tag_labels.values())})


def _tag_mentions(tags: pl.DataFrame, profile: Profile) -> Mentions:
    """A row for each tag written, with its label, key and type."""
    if not tags.height:
        return _of_rows(_WRITTEN.to_frame())
    texts = Texts()
    at = texts.numbers(tags["tag"])
    spelled = texts.distinct
    clean = spelled.str.replace_all("/{2,}", "/").str.strip_chars("/")
    key = fold(clean)
    table = rows_where(pl.DataFrame({"tag": spelled, "spelling": clean, "key": key}), (key != "").to_numpy())
    given = (
        pl.Series(name, [value]).new_from_index(0, table.height) for name, value in (("label", TAG), ("type", TAGGED))
    )
    table = table.hstack([*given])
    table = _below_prefixes(table, profile) if profile.tag_labels else table
    row = np.full(len(texts), NONE, dtype=np.int64)
    row[texts.numbers(table["tag"])] = np.arange(table.height)
    at = row[at]
    tags, at = (tags, at) if table.height == len(texts) else (tags.filter(pl.Series(at >= 0)), at[at >= 0])
    nothing = pl.Series("property", [None], dtype=pl.String).new_from_index(0, tags.height)
    rows = pl.DataFrame([tags["file"], tags["line"], nothing])
    return Mentions(rows, at, columns_of(table, "label", "key", "spelling", "type"))


def _below_prefixes(table: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Tags (tag, spelling, key, label, type) with label and type of the longest prefix they are below, and without it.

    Prefixes are whole parts of a tag: ``a/*`` is about ``a/b`` and not about ``ab`` or ``a``.
    """
    rules = profile.tag_labels.items()
    rows = [(prefix, prefix.count("/") + 1, rule.label, rule.edge) for prefix, rule in rules]
    prefixes = pl.DataFrame(
        rows, schema={"prefix": pl.String, "depth": pl.Int64, "of": pl.String, "by": pl.String}, orient="row"
    )
    prefixes = prefixes.with_columns(prefix=fold(prefixes["prefix"]))
    done: list[pl.DataFrame] = []
    # row loop: one step for each depth of a prefix, the deepest first
    for depth in prefixes["depth"].unique().sort(descending=True).to_list():
        parts = pl.col("key").str.split("/")
        chosen = table.filter(parts.list.len() > depth).with_columns(prefix=parts.list.head(depth).list.join("/"))
        chosen = chosen.join(prefixes.filter(pl.col("depth") == depth), on="prefix", how="inner", maintain_order="left")
        done.append(
            chosen.select(
                "tag",
                *(pl.col(name).str.split("/").list.slice(depth).list.join("/") for name in ("spelling", "key")),
                pl.col("of").alias("label"),
                pl.col("by").alias("type"),
            )
        )
        table = table.join(chosen.select("tag"), on="tag", how="anti", maintain_order="left")
    return pl.concat([table, *done])


def _hub_mentions(properties: pl.DataFrame, key: str, profile: Profile) -> pl.DataFrame:
    """A row for each text value of a hub's property; wikilinks are links.py's."""
    hub = profile.hubs[key]
    is_text = (pl.col("key") == key) & (pl.col("kind") == ValueKind.TEXT)
    rows = properties.filter(is_text).select("file", "line", spelling=pl.col("text").str.strip_chars())
    rows = rows.filter((pl.col("spelling") != "") & ~pl.col("spelling").str.contains(WIKILINK))
    folds = hub.case_insensitive or hub.label in tag_like_labels(profile)
    return rows.select(
        "file",
        "line",
        pl.lit(hub.label).alias("label"),
        (fold(rows["spelling"]) if folds else rows["spelling"]).alias("key"),
        "spelling",
        pl.lit(hub.edge).alias("type"),
        pl.lit(key).alias("property"),
    )


def _nesting(tags: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tag to parent tag (label, key, parent), and the parents as spellings (label, key, spelling, uses, is_parent).

    ``tags``: (label, key, spelling, uses), distinct.
    """
    if not tags.height:
        return _NESTED.to_frame(), _PARENTS.to_frame()
    pairs: dict[tuple[str, str, str], None] = {}
    uses: dict[tuple[str, str, str], int] = {}
    # row loop: once for each distinct spelling of a nested tag and each level above it
    for label, key, spelling, count in tags.iter_rows():
        while "/" in key:
            above, spelling = key.rpartition("/")[0], spelling.rpartition("/")[0]
            pairs[label, key, above] = None
            uses[label, above, spelling] = uses.get((label, above, spelling), 0) + count
            key = above
    parents = [(*name, count, True) for name, count in uses.items()]
    return (
        pl.DataFrame(list(pairs), schema=_NESTED, orient="row"),
        pl.DataFrame(parents, schema=_PARENTS, orient="row"),
    )
