"""Resolution: from what links write to the files they mean, over whole columns.

Every distinct (target, source folder, mode) is resolved once, by joins against the keys of the catalogue. The order is
Obsidian's: exact vault path, the source's own folder, then the shortest path that ends with the name; after that, where
the profile allows it, alias, title and slug. Problems and nodes for what is not found are made by links.py.
"""

from enum import IntEnum
from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.names import fold, last_part, slug, without_md

OUTSIDE: Final = r"^(?:(?i:file):|[A-Za-z]:[\\/]|\\\\)"
DOTTED: Final = r"(?:^|/)\.{1,2}(?:/|$)|[^:]//"


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


ASKED: Final = pl.Schema({"target": pl.String, "folder": pl.String, "mode": pl.UInt8})


def resolve(asked: pl.DataFrame, catalogue: Catalogue, called: pl.DataFrame) -> pl.DataFrame:
    """Resolve rows of ASKED (``folder`` is the source's; ``target`` without anchor, not empty), repeats welcome.

    ``called`` gives the other names of notes (see ``other_names``); empty switches them off. Gives, row for row: file
    Int64 (row in the catalogue, null where nothing matches), via UInt8, is_ambiguous and is_outside Boolean, name
    String (the target as a vault path where it is relative, else as written) and key String (the folded name).
    """
    names = _names(asked["target"].unique())
    full, twins = _full_keys(catalogue), _twins(catalogue)
    whole = full.sort("rank", "place").unique("key", keep="first", maintain_order=True).select("key", "file", "rank")
    known = _known_names(names, full, whole, called, twins)
    rows = asked.join(known, on="target", how="left", maintain_order="left").with_row_index("at")
    found = _found(rows, catalogue.note_count)
    if (crowded := found.filter("is_crowded")).height:
        found = found.update(_beside(crowded, whole, catalogue.note_count), on="at")
    if (relative := rows.filter("is_relative")).height:
        found = found.update(_relative(relative, whole), on="at", include_nulls=True)
    if twins.height:
        found = found.update(_spelled(found, twins), on="at")
    return found.select("file", "via", "is_ambiguous", "is_outside", "name", "key")


def other_names(catalogue: Catalogue, aliases: pl.DataFrame, titles: pl.Series) -> pl.DataFrame:
    """The names of notes beyond their paths: (via UInt8, key String, file Int64), one key maybe of several notes.

    ``aliases``: (file, name); ``titles``: of the notes of the catalogue, aligned. Slugs are made of stems and titles.
    """
    rows = pl.int_range(catalogue.note_count, dtype=pl.Int64, eager=True)
    titled = fold(titles)
    # Folding a path folds each part, so the stem's key is there already.
    stems = last_part(catalogue.notes["name_key"])
    named = [
        (Via.ALIAS, aliases["file"].cast(pl.Int64), fold(aliases["name"])),
        (Via.TITLE, rows, titled),
        (Via.SLUG, rows, slug(stems)),
        (Via.SLUG, rows, slug(titled)),
    ]
    return pl.concat(
        pl.DataFrame({"key": keys, "file": files}).select(pl.lit(via.value, pl.UInt8).alias("via"), "key", "file")
        for via, files, keys in named
    )


def _names(targets: pl.Series) -> pl.DataFrame:
    """What distinct targets are by themselves: target, name, key, is_rooted, is_relative, is_outside."""
    target = pl.col("target").str.strip_chars()
    names = pl.DataFrame({"target": targets}).select(
        "target",
        name=target.str.strip_chars("/"),
        is_rooted=target.str.starts_with("/"),
        is_relative=target.str.contains(r"^\.{1,2}(?:/|$)"),
        is_outside=target.str.contains(OUTSIDE),
    )
    inner = names["name"].str.contains(DOTTED) & ~names["is_relative"]
    if inner.any():
        straight = _straightened(names.filter(inner)["name"]).rename({"path": "name", "straight": "plain"})
        names = names.join(straight, on="name", how="left", maintain_order="left").with_columns(
            name=pl.coalesce("plain", "name"),
            is_outside=pl.col("is_outside") | pl.col("escapes").fill_null(False),
        )
    return names.with_columns(key=fold(names["name"])).select(
        "target", "name", "key", "is_rooted", "is_relative", "is_outside"
    )


def _straightened(paths: pl.Series) -> pl.DataFrame:
    """Distinct paths without ``.`` and ``..`` parts: (path, straight, escapes); one that climbs out keeps its form."""
    shapes = paths.unique()
    # row loop: taking `..` steps is sequential; once for each distinct relative target with its folder
    straight = [_steps_taken(path) for path in shapes.to_list()]
    escapes = pl.Series([path is None for path in straight], dtype=pl.Boolean)
    return pl.DataFrame({"path": shapes, "straight": pl.Series(straight, dtype=pl.String), "escapes": escapes})


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
    spelled = files.select("key", "rank", "file", "place")
    bare = files.filter("is_note").select(
        pl.col("name_key").alias("key"), pl.lit(1, pl.UInt8).alias("rank"), "file", "place"
    )
    return pl.concat([spelled, bare]).with_columns(pl.col("file").cast(pl.Int64))


def _linked(files: pl.DataFrame, aliases: pl.DataFrame) -> pl.DataFrame:
    """The files again, under the paths symlinks give them: same columns as ``files``."""
    single = aliases.join(files, left_on="target", right_on="path").select(
        "path", *files.columns[:1], *files.columns[2:]
    )
    parts = [single.select(files.columns)]
    # row loop: one step for each symlink to a folder, which are few
    for path, target in aliases.iter_rows():
        prefix = f"{target}/" if target else ""  # "" is the vault itself
        inside = files.filter(pl.col("path").str.starts_with(prefix))
        parts.append(inside.with_columns(path=pl.lit(f"{path}/") + pl.col("path").str.slice(len(prefix))))
    linked = pl.concat(parts)
    keys = fold(linked["path"])
    return linked.with_columns(
        key=keys, name_key=pl.when(linked["is_note"]).then(without_md(keys)).otherwise(keys)
    ).select(files.columns)


def _twins(catalogue: Catalogue) -> pl.DataFrame:
    """Files whose paths differ only by case or composition: (file, first, path, folder); ``first`` stands for them."""
    files = catalogue.files
    rows = files["key"].is_duplicated().arg_true().cast(pl.Int64)
    if not len(rows):
        return pl.DataFrame(schema={"file": pl.Int64, "first": pl.Int64, "path": pl.String, "folder": pl.String})
    twins = files[rows].select("key", "path", "folder", file=rows)
    return twins.select("file", "path", "folder", first=pl.col("file").min().over("key"))


def _known_names(
    names: pl.DataFrame, full: pl.DataFrame, whole: pl.DataFrame, called: pl.DataFrame, twins: pl.DataFrame
) -> pl.DataFrame:
    """``names`` with what they mean from anywhere: exact, exact_rank, far, far_rank, candidates, other, how."""
    keys = names.filter(~pl.col("is_rooted") & ~pl.col("is_relative"))["key"].unique()
    suffixes = _suffix_keys(full, keys, twins)
    rows = names.join(whole.rename({"file": "exact", "rank": "exact_rank"}), on="key", how="left")
    rows = rows.join(suffixes.rename({"file": "far", "rank": "far_rank"}), on="key", how="left")
    unknown = rows.filter(pl.col("far").is_null())["key"].unique()
    return rows.join(_other_matches(unknown, called), on="key", how="left")


def _suffix_keys(full: pl.DataFrame, keys: pl.Series, twins: pl.DataFrame) -> pl.DataFrame:
    """For each of ``keys``, the best file whose path ends with it: (key, rank, file, candidates).

    Best: lowest rank, then shortest path, then first path. ``candidates`` counts distinct files of that rank; twins
    are one.
    """
    asked = pl.DataFrame({"key": keys, "name": last_part(keys)}).with_columns(
        depth=pl.col("key").str.count_matches("/", literal=True)
    )
    # Only files with a name that is asked for are looked at, and names with folders are few.
    near = full.with_columns(name=last_part(full["key"])).join(asked.select("name"), on="name", how="semi")
    parts = near["key"].str.split("/")
    frames: list[pl.DataFrame] = []
    for depth in sorted(set(asked["depth"].drop_nulls().to_list())):
        tails = near["name"] if depth == 0 else parts.list.tail(depth + 1).list.join("/")
        level = near.with_columns(key=tails).filter(parts.list.len() > depth)
        wanted = asked.filter(pl.col("depth") == depth).select("key")
        frames.append(level.join(wanted, on="key", how="semi").select(full.columns))
    if not frames:
        return full.clear().select("key", "rank", "file", candidates=pl.lit(0, pl.UInt32))
    # A symlinked file is found under several paths; it is one candidate.
    found = pl.concat(frames).sort("rank", "place").unique(["key", "rank", "file"], keep="first", maintain_order=True)
    best = found.unique("key", keep="first", maintain_order=True).select("key", "rank", "file")
    if twins.height:
        first = found["file"].replace(twins["file"], twins["first"])
        found = found.with_columns(file=first).unique(["key", "rank", "file"])
    counts = found.group_by("key", "rank").len("candidates")
    return best.join(counts, on=["key", "rank"], how="left")


def _other_matches(keys: pl.Series, called: pl.DataFrame) -> pl.DataFrame:
    """Alias, title, slug, in this order, for keys that are no path: (key, other, how); a name of several is none."""
    asked = pl.DataFrame({"key": keys, "plain": without_md(keys)}).filter(pl.col("plain") != "")
    asked = asked.with_columns(slug=slug(asked["plain"]))
    matches = [
        asked.join(called.filter(pl.col("via") == via), left_on=on, right_on="key").select("key", "via", "file")
        for via, on in ((Via.ALIAS, "plain"), (Via.TITLE, "plain"), (Via.SLUG, "slug"))
    ]
    files = pl.concat(matches).group_by("key", "via").agg(other=pl.col("file").min(), last=pl.col("file").max())
    single = files.filter(pl.col("other") == pl.col("last"))
    return single.sort("key", "via").unique("key", keep="first").select("key", "other", how="via")


def _found(rows: pl.DataFrame, note_count: int) -> pl.DataFrame:
    """Rows resolved as far as a name goes without its place: file, via, is_ambiguous, and is_crowded where the
    source's own folder still decides."""
    is_fixed = pl.col("is_rooted") | (pl.col("mode") == Mode.CANVAS)
    # A better rank anywhere goes before a worse one at the right place: `[[a.png]]` is the picture, not `a.png.md`.
    exact = pl.when(is_fixed | (pl.col("exact_rank") == pl.col("far_rank"))).then("exact")
    far = pl.when(~is_fixed).then("far")
    other = pl.when(~is_fixed & pl.col("far").is_null()).then("other")
    is_crowded = ~is_fixed & ~pl.col("is_outside") & (pl.col("candidates").fill_null(0) > 1)
    # For a wikilink to a note, a whole path from the top goes before the source's own folder.
    is_settled = exact.is_not_null() & (pl.col("mode") == Mode.WIKI) & (pl.col("far") < note_count)
    return rows.with_columns(
        file=pl.when(~pl.col("is_outside")).then(pl.coalesce(exact, far, other)),
        via=pl.when(other.is_not_null() & ~pl.col("is_outside")).then("how").otherwise(Via.EXACT.value).cast(pl.UInt8),
        is_ambiguous=is_crowded & exact.is_null(),
        is_crowded=is_crowded & ~is_settled,
    )


def _beside(crowded: pl.DataFrame, whole: pl.DataFrame, note_count: int) -> pl.DataFrame:
    """Names of several files that one in the source's own folder has: (at, file, is_ambiguous).

    A Markdown link, and every link to a file that is no note, means that file; a wikilink to a note only prefers it,
    so its name stays ambiguous.
    """
    keys = fold(crowded["folder"])
    rows = crowded.select(
        "at", "mode", "far_rank", own_key=pl.when(keys == "").then("key").otherwise(keys + "/" + pl.col("key"))
    )
    own = rows.join(whole, left_on="own_key", right_on="key").filter(pl.col("rank") == pl.col("far_rank"))
    return own.select("at", "file", is_ambiguous=(pl.col("mode") == Mode.WIKI) & (pl.col("file") < note_count))


def _spelled(found: pl.DataFrame, twins: pl.DataFrame) -> pl.DataFrame:
    """Rows that lead to one of several twins: (at, file, is_ambiguous), the one that is spelled as the link is.

    Of several such, the one in the source's own folder; where that does not decide either, the name is ambiguous.
    """
    met = found.filter(pl.col("via") == Via.EXACT.value).select("at", "file", "name", "is_ambiguous", source="folder")
    met = met.join(twins.select("file", "first"), on="file").select("at", "first", "name", "is_ambiguous", "source")
    rows = met.join(twins, on="first").with_columns(
        name=pl.lit("/") + pl.col("name"), path=pl.lit("/") + pl.col("path")
    )
    bare = pl.col("path").str.replace(r"\.[mM][dD]\z", "")
    rows = rows.with_columns(
        is_spelled=pl.col("path").str.ends_with(pl.col("name")) | bare.str.ends_with(pl.col("name")),
        is_own=pl.col("folder") == pl.col("source"),
    )
    order = ["at", "is_spelled", "is_own", "path"]
    best = rows.sort(order, descending=[False, True, True, False]).with_columns(
        rivals=pl.len().over("at", "is_spelled", "is_own")
    )
    best = best.unique("at", keep="first", maintain_order=True)
    return best.select(
        "at", "file", is_ambiguous=pl.col("is_ambiguous") | ~pl.col("is_spelled") | (pl.col("rivals") > 1)
    )


def _relative(relative: pl.DataFrame, whole: pl.DataFrame) -> pl.DataFrame:
    """``./`` and ``../`` targets from the source's folder: (at, file, via, is_ambiguous, is_outside, name, key)."""
    base = pl.when((pl.col("folder") != "") & (pl.col("mode") != Mode.CANVAS)).then(pl.col("folder") + "/")
    rows = relative.select("at", written="name", path=base.otherwise(pl.lit("")) + pl.col("name"))
    straight = _straightened(rows["path"]).rename({"straight": "name"})
    straight = straight.with_columns(pl.coalesce("name", "path").alias("name"))
    straight = straight.with_columns(key=fold(straight["name"])).join(whole, on="key", how="left")
    return rows.join(straight, on="path", how="left").select(
        "at",
        file=pl.when(~pl.col("escapes")).then("file"),
        via=pl.lit(Via.EXACT.value, pl.UInt8),
        is_ambiguous=pl.lit(False),
        is_outside="escapes",
        name=pl.when("escapes").then("written").otherwise("name"),
        key="key",
    )
