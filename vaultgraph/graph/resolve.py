"""Resolution: from what links write to the files they mean, over whole columns.

Every distinct (target, source folder, mode) is resolved once, by joins against the keys of the catalogue. The order is
Obsidian's: exact vault path, the source's own folder, then the shortest path that ends with the name; after that, where
the profile allows it, alias, title and slug. Problems and nodes for what is not found are made by links.py.
"""

from enum import IntEnum
from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.names import fold, slug, without_md

OUTSIDE: Final = r"^(?:file:|[a-z]:[\\/]|\\\\)"
DOTTED: Final = r"(?:^|/)\.{1,2}(?:/|$)"


class Mode(IntEnum):
    """How a target is looked up."""

    WIKI = 0  # exact vault path, own folder, suffix
    MARKDOWN = 1  # own folder, exact vault path, suffix
    CANVAS = 2  # exact vault path only


class Via(IntEnum):
    """By which rule beyond Obsidian's a target was found; EXACT is none of them."""

    EXACT = 0
    ALIAS = 1
    TITLE = 2
    SLUG = 3


WANTED: Final = pl.Schema({"target": pl.String, "folder": pl.String, "mode": pl.UInt8})


def resolve(wanted: pl.DataFrame, catalogue: Catalogue, called: pl.DataFrame) -> pl.DataFrame:
    """Resolve distinct rows of WANTED (``folder`` is the source's, ``target`` without anchor and not empty).

    ``called`` gives the other names of notes (see ``other_names``); empty switches them off. Gives ``wanted`` with
    file Int64 (row in the catalogue, null where nothing matches), via UInt8, is_ambiguous and is_outside Boolean, name
    String (the target as a vault path where it is relative, else as written) and key String (the folded name).
    """
    placed = _placed(wanted)
    full = _full_keys(catalogue)
    found = _by_path(placed, full, _suffix_keys(full, placed))
    return _by_other_names(found, called).select(
        *wanted.columns, "file", "via", "is_ambiguous", "is_outside", "name", "key"
    )


def other_names(catalogue: Catalogue, aliases: pl.DataFrame, titles: pl.Series) -> pl.DataFrame:
    """The names beyond paths that mean exactly one note: (via UInt8, key String, file Int64).

    ``aliases``: (file, name); ``titles``: of the notes of the catalogue, aligned. Slugs are made of stems and titles.
    """
    rows = pl.int_range(catalogue.note_count, dtype=pl.Int64, eager=True)
    titled = fold(titles)
    stems = fold(catalogue.notes["stem"])
    named = [
        (Via.ALIAS, aliases["file"].cast(pl.Int64), fold(aliases["name"])),
        (Via.TITLE, rows, titled),
        (Via.SLUG, rows, slug(stems)),
        (Via.SLUG, rows, slug(titled)),
    ]
    frames = [
        pl.DataFrame({"key": keys, "file": files}).select(pl.lit(via.value, pl.UInt8).alias("via"), "key", "file")
        for via, files, keys in named
    ]
    return (
        pl.concat(frames)
        .filter(pl.col("key") != "")
        .group_by("via", "key")
        .agg(pl.col("file").min(), pl.col("file").max().alias("last"))
        .filter(pl.col("file") == pl.col("last"))
        .select("via", "key", "file")
    )


def _placed(wanted: pl.DataFrame) -> pl.DataFrame:
    """Wanted rows with name, key, own_key (key in the source's folder), is_anchored (only an exact path will do)."""
    target = pl.col("target").str.strip_chars()
    rows = wanted.with_columns(
        name=target,
        is_rooted=target.str.starts_with("/"),
        is_dotted=target.str.contains(DOTTED),
        is_relative=target.str.contains(r"^\.{1,2}(?:/|$)"),
    ).with_row_index("at")
    dotted = rows.filter(pl.col("is_dotted"))
    rows = rows.with_columns(name=pl.col("name").str.strip_chars("/"), escapes=pl.lit(False))
    if dotted.height:
        rows = rows.update(_straightened(dotted), on="at")
    rows = rows.with_columns(key=fold(rows["name"]), folder_key=fold(rows["folder"]))
    return rows.select(
        *wanted.columns,
        "name",
        "key",
        own_key=pl.when(pl.col("folder_key") == "").then("key").otherwise(pl.format("{}/{}", "folder_key", "key")),
        is_anchored=pl.col("is_rooted") | pl.col("is_relative") | (pl.col("mode") == Mode.CANVAS),
        is_outside=pl.col("escapes") | pl.col("target").str.to_lowercase().str.contains(OUTSIDE),
    )


def _straightened(dotted: pl.DataFrame) -> pl.DataFrame:
    """Targets with ``.`` and ``..`` parts as plain vault paths: (at, name, escapes)."""
    base = (
        pl.when(pl.col("is_relative") & (pl.col("folder") != "")).then(pl.format("{}/", "folder")).otherwise(pl.lit(""))
    )
    joined = dotted.select("at", path=base + pl.col("name").str.strip_chars_start("/"))
    shapes = joined["path"].unique(maintain_order=True)
    # row loop: taking `..` steps is sequential; once for each distinct relative target with its folder
    straight = [_steps_taken(path) for path in shapes.to_list()]
    table = pl.DataFrame(
        {"path": shapes, "name": [path or "" for path in straight], "escapes": [path is None for path in straight]},
        schema={"path": pl.String, "name": pl.String, "escapes": pl.Boolean},
    )
    return joined.join(table, on="path", how="left").select("at", "name", "escapes")


def _steps_taken(path: str) -> str | None:
    """``path`` without ``.`` and ``..`` parts; None where it climbs above the vault."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not kept:
                return None
            kept.pop()
        elif part not in {"", "."}:
            kept.append(part)
    return "/".join(kept)


def _full_keys(catalogue: Catalogue) -> pl.DataFrame:
    """Every whole key a file is found under: (key, rank, file, length, place), symlinks included.

    rank 0: by its full name, 1: a note without ``.md``, 2: a file without extension. place: position by path.
    """
    files = catalogue.files.select("path", "key", "name_key", "is_note", "rank").with_row_index("file")
    files = pl.concat([files, _linked(files, catalogue.aliases)]) if catalogue.aliases.height else files
    files = files.with_columns(length=pl.col("path").str.len_chars()).sort("length", "path").with_row_index("place")
    whole = files.select("key", "rank", "file", "place")
    bare = files.filter("is_note").select(
        pl.col("name_key").alias("key"), pl.lit(1, pl.UInt8).alias("rank"), "file", "place"
    )
    return pl.concat([whole, bare]).with_columns(pl.col("file").cast(pl.Int64))


def _linked(files: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """The files again, under the paths symlinks give them: same columns as ``files``."""
    single = aliases.join(files, left_on="target", right_on="path").select(
        "path", *files.columns[:1], *files.columns[2:]
    )
    parts = [single.select(files.columns)]
    # row loop: one step for each symlink to a folder, which are few
    for path, target in aliases.iter_rows():
        inside = files.filter(pl.col("path").str.starts_with(f"{target}/"))
        tail = pl.col("path").str.slice(len(target))
        parts.append(inside.with_columns(path=pl.lit(path) + tail))
    linked = pl.concat(parts)
    keys = fold(linked["path"])
    return linked.with_columns(
        key=keys, name_key=pl.when(linked["is_note"]).then(without_md(keys)).otherwise(keys)
    ).select(files.columns)


def _suffix_keys(full: pl.DataFrame, placed: pl.DataFrame) -> pl.DataFrame:
    """For each wanted key, the best file whose path ends with it: (key, rank, file, candidates).

    Best: lowest rank, then shortest path, then first path. ``candidates`` counts distinct files of that rank.
    """
    keys = placed.filter(~pl.col("is_anchored"))["key"].unique()
    depths = keys.str.count_matches("/", literal=True)
    parts = full["key"].str.split("/")
    frames: list[pl.DataFrame] = []
    for depth in sorted(set(depths.drop_nulls().to_list())):
        tails = parts.list.get(-1) if depth == 0 else parts.list.tail(depth + 1).list.join("/")
        deep_enough = parts.list.len() > depth
        level = full.with_columns(key=tails).filter(deep_enough)
        frames.append(level.join(keys.filter(depths == depth).to_frame(), on="key", how="semi"))
    if not frames:
        return full.clear().select("key", "rank", "file", pl.lit(0, pl.UInt32).alias("candidates"))
    lowest = pl.col("rank") == pl.col("rank").min()
    return (
        pl.concat(frames)
        .sort("rank", "place")
        .group_by("key")
        .agg(
            pl.col("rank").first(), pl.col("file").first(), pl.col("file").filter(lowest).n_unique().alias("candidates")
        )
    )


def _by_path(placed: pl.DataFrame, full: pl.DataFrame, suffixes: pl.DataFrame) -> pl.DataFrame:
    """The path rules: placed rows with file (null where none matches) and is_ambiguous."""
    whole = full.sort("rank", "place").unique("key", keep="first", maintain_order=True)
    exact = whole.select("key", exact="file", exact_rank="rank")
    own = whole.select(own_key="key", own="file", own_rank="rank")
    rows = (
        placed.join(exact, on="key", how="left", maintain_order="left")
        .join(own, on="own_key", how="left", maintain_order="left")
        .join(suffixes, on="key", how="left", maintain_order="left")
    )
    free, markdown = ~pl.col("is_anchored"), pl.col("mode") == Mode.MARKDOWN
    # A better rank anywhere goes before a worse one at the right place: `[[a.png]]` is the picture, not `a.png.md`.
    best = pl.col("rank")
    exact_file = pl.when(pl.col("is_anchored") | (pl.col("exact_rank") == best)).then("exact")
    own_file = pl.when(free & (pl.col("own_rank") == best)).then("own")
    near = pl.when(markdown).then(pl.coalesce(own_file, exact_file)).otherwise(exact_file)
    beside = pl.when(~markdown).then(own_file)
    far = pl.when(free).then("file")
    is_ambiguous = free & near.is_null() & far.is_not_null() & (pl.col("candidates") > 1)
    return rows.with_columns(
        file=pl.when(~pl.col("is_outside")).then(pl.coalesce(near, beside, far)),
        is_ambiguous=is_ambiguous & ~pl.col("is_outside"),
    )


def _by_other_names(found: pl.DataFrame, called: pl.DataFrame) -> pl.DataFrame:
    """Alias, title, slug, in this order, for what no path rule found; sets via."""
    rows = found.with_columns(via=pl.lit(Via.EXACT.value, pl.UInt8))
    missing = rows["file"].is_null() & ~rows["is_anchored"] & ~rows["is_outside"]
    if not called.height or not missing.any():
        return rows
    keys = rows.filter(missing)["key"].unique()
    asked = pl.DataFrame({"key": keys, "plain": without_md(keys)})
    asked = asked.with_columns(slug=slug(asked["plain"]))
    matches = [
        asked.join(called.filter(pl.col("via") == via), left_on=on, right_on="key").select("key", "via", other="file")
        for via, on in ((Via.ALIAS, "plain"), (Via.TITLE, "plain"), (Via.SLUG, "slug"))
    ]
    best = pl.concat(matches).sort("key", "via").unique("key", keep="first")
    use = pl.col("file").is_null() & ~pl.col("is_anchored") & ~pl.col("is_outside") & pl.col("other").is_not_null()
    return rows.join(best.rename({"via": "how"}), on="key", how="left", maintain_order="left").with_columns(
        file=pl.when(use).then("other").otherwise("file"), via=pl.when(use).then("how").otherwise("via")
    )
