"""Resolution: from what links write to the files they mean, over whole columns.

Every distinct name is looked up once (known.py); what the source's folder and the kind of link decide is decided row by
row of arrays. The order is Obsidian's: exact vault path, the source's own folder, then the shortest path that ends with
the name; after that, where the profile allows it, alias, title and slug. Problems and nodes for what is not found are
made by links.py.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.known import Known, Names, Via, look_up
from vaultgraph.graph.names import fold, slug
from vaultgraph.graph.texts import NONE, Texts, columns_of, taken
from vaultgraph.note.alone import TEXTS, made_of, selected

OUTSIDE: Final = r"^(?:(?i:file):|[A-Za-z]:[\\/]|\\\\)"
DOTTED: Final = r"(?:^|/)\.{1,2}(?:/|$)|[^:]//"


class Mode(IntEnum):
    """How a target is looked up."""

    WIKI = 0  # exact vault path, own folder, suffix
    MARKDOWN = 1  # own folder, exact vault path, suffix
    CANVAS = 2  # exact vault path only


Flags = npt.NDArray[np.bool_]

_SHAPED: Final = TEXTS.str.contains(r"^[\s/.]|[\s/]$|[:\\]|/[/.]").arg_true()  # takes in all that the two above mean
_SHAPES: Final = ("name", "is_rooted", "is_relative", "is_outside")
ASKED: Final = pl.Schema({"target": pl.String, "folder": pl.String, "mode": pl.UInt8})
CALLED: Final = pl.Schema({"via": pl.UInt8, "key": pl.String, "file": pl.Int64})
"""What ``other_names`` gives."""


def resolve(asked: pl.DataFrame, vault: Names) -> "Found":
    """Resolve rows of ASKED (``folder`` is the source's; ``target`` without anchor, not empty), repeats welcome."""
    targets = Texts()
    at = targets.numbers(asked["target"])
    names = _names(targets.distinct)
    if names["is_relative"].any():
        names, at = _with_relative(names, at, asked)
    keys = Texts()
    key_of = keys.numbers(names["key"])
    known = look_up(keys.distinct, vault)
    found = _found(names, key_of, at, asked["mode"].to_numpy(), known, vault.note_count)
    crowded = np.flatnonzero(found.is_crowded)
    if len(crowded):
        _beside(found, crowded, key_of[at[crowded]], asked, known, vault.note_count)
    if vault.twins.height:
        _spelled(found, vault.twins, asked["folder"])
    return found


def other_names(catalogue: Catalogue, aliases: pl.DataFrame, titles: pl.Series) -> pl.DataFrame:
    """The names of notes beyond their paths: (via UInt8, key String, file Int64), one key maybe of several notes.

    ``aliases``: (file, name); ``titles``: of the notes of the catalogue, aligned. Slugs are made of stems and titles.
    """
    rows = np.arange(catalogue.note_count)
    titled = fold(titles)
    # Folding a path folds each part, so the stem's key is there already.
    stems = catalogue.notes["end_key"]
    stems = made_of(stems, TEXTS.str.head(-3))
    named = [
        (Via.ALIAS, aliases["file"].to_numpy(), fold(aliases["name"]) if aliases.height else aliases["name"]),
        (Via.TITLE, rows, titled),
        (Via.SLUG, rows, slug(stems)),
        (Via.SLUG, rows, slug(titled)),
    ]
    return pl.DataFrame(
        [
            pl.Series("via", np.concatenate([np.full(len(files), via.value, np.uint8) for via, files, _ in named])),
            pl.concat([keys.alias("key") for _, _, keys in named], rechunk=True),
            pl.Series("file", np.concatenate([files for _, files, _ in named]).astype(np.int64)),
        ]
    )


def _names(targets: pl.Series) -> pl.DataFrame:
    """What distinct targets are by themselves: name, key, is_rooted, is_relative, is_outside."""
    names = targets
    flags = {name: np.zeros(len(targets), dtype=np.bool_) for name in ("is_rooted", "is_relative", "is_outside")}
    shaped = made_of(targets, _SHAPED)  # few names are anything but what is written
    if len(shaped):
        shapes, rows = _shapes(targets[shaped]), shaped.to_numpy()
        names = names.clone().scatter(shaped, shapes["name"])
        for name, is_so in flags.items():
            is_so[rows] = shapes[name].to_numpy()
    are_so = (pl.Series(name, is_so) for name, is_so in flags.items())
    return pl.DataFrame([names.alias("name"), fold(names).alias("key"), *are_so])


def _shapes(targets: pl.Series) -> pl.DataFrame:
    """name, is_rooted, is_relative and is_outside of targets."""
    target = pl.col("target").str.strip_chars()
    shapes = [
        target.str.strip_chars("/").alias("name"),
        target.str.starts_with("/").alias("is_rooted"),
        target.str.contains(r"^\.{1,2}(?:/|$)").alias("is_relative"),
        target.str.contains(OUTSIDE).alias("is_outside"),
    ]
    names = columns_of(selected(targets.alias("target").to_frame(), shapes), *_SHAPES)
    inner = made_of(names["name"], TEXTS.str.contains(DOTTED)) & ~names["is_relative"]
    if inner.any():
        straight = _straightened(names.filter(inner)["name"]).rename({"path": "name", "straight": "plain"})
        names = names.join(straight, on="name", how="left", maintain_order="left").with_columns(
            name=pl.coalesce("plain", "name"),
            is_outside=pl.col("is_outside") | pl.col("escapes").fill_null(False),
        )
    return names


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


def _with_relative(names: pl.DataFrame, at: Ids, asked: pl.DataFrame) -> tuple[pl.DataFrame, Ids]:
    """The names with a row more for each ``./`` or ``../`` target and folder it is asked from; and the row of each."""
    rows = np.flatnonzero(names["is_relative"].to_numpy()[at])
    folders = Texts()
    folder = folders.numbers(asked["folder"][rows])
    root = folders.numbers(pl.Series([""]))
    folder = np.where(asked["mode"].to_numpy()[rows] == Mode.CANVAS, root, folder)
    pairs, place = np.unique(at[rows] * len(folders) + folder, return_inverse=True)
    written = taken(names["name"], pairs // len(folders))
    base = taken(folders.distinct, pairs % len(folders))
    table = pl.DataFrame({"written": written, "base": base}).with_columns(
        path=pl.when(pl.col("base") != "").then(pl.col("base") + "/").otherwise(pl.lit("")) + pl.col("written")
    )
    straight = _straightened(table["path"])
    table = table.join(straight, on="path", how="left", maintain_order="left")
    relative = table.select(
        name=pl.when("escapes").then("written").otherwise("straight"),
        is_rooted=pl.lit(True),  # only the whole path counts
        is_outside="escapes",
        key=fold(table.select(pl.coalesce("straight", "path"))["straight"]),
    )
    shown = at.copy()
    shown[rows] = names.height + place
    return pl.concat([names.select(relative.columns), relative], rechunk=True), shown


@dataclass(slots=True)
class Found:
    """Links resolved, by row: ``file`` (row in the catalogue, -1 where nothing matches); ``via``; ``is_ambiguous``;
    ``is_crowded`` where the source's own folder still decides; ``is_outside``.

    ``at``: the row of each in ``names`` and ``keys``, String: the target as a vault path where it is relative, else as
    written, and the same folded.
    """

    file: Ids
    via: npt.NDArray[np.uint8]
    is_ambiguous: Flags
    is_crowded: Flags
    is_outside: Flags
    at: Ids
    names: pl.Series
    keys: pl.Series


def _found(
    names: pl.DataFrame, key_of: Ids, at: Ids, mode: npt.NDArray[np.uint8], known: Known, note_count: int
) -> Found:
    """Rows resolved as far as a name goes without its place; ``at``: the row in ``names`` of each."""
    is_outside = names["is_outside"].to_numpy()[at]
    is_fixed = names["is_rooted"].to_numpy()[at] | (mode == Mode.CANVAS)
    key = key_of[at]
    exact, far, other = known.exact[key], known.far[key], known.other[key]
    # A better rank anywhere goes before a worse one at the right place: `[[a.png]]` is the picture, not `a.png.md`.
    exact[~is_fixed & (known.exact_rank[key] != known.far_rank[key])] = NONE
    far[is_fixed] = NONE
    other[is_fixed | (far >= 0) | is_outside] = NONE
    is_crowded = ~is_fixed & ~is_outside & (known.candidates[key] > 1)
    # For a wikilink to a note, a whole path from the top goes before the source's own folder.
    is_settled = (exact >= 0) & (mode == Mode.WIKI) & (far < note_count)
    file = np.where(exact >= 0, exact, np.where(far >= 0, far, other))
    file[is_outside] = NONE
    via = np.where(other >= 0, known.how[key], Via.EXACT.value).astype(np.uint8)
    is_ambiguous, is_crowded = is_crowded & (exact < 0), is_crowded & ~is_settled
    return Found(file, via, is_ambiguous, is_crowded, is_outside, at, names["name"], names["key"])


def _beside(found: Found, rows: Ids, keys: Ids, asked: pl.DataFrame, known: Known, note_count: int) -> None:
    """Names of several files that one in the source's own folder has lead to that one.

    A Markdown link, and every link to a file that is no note, means that file; a wikilink to a note only prefers it,
    so its name stays ambiguous. ``rows``: those that are crowded, ``keys``: their keys.
    """
    folders = Texts()
    folder = folders.numbers(asked["folder"][rows])
    pairs, place = np.unique(keys * len(folders) + folder, return_inverse=True)
    table = pl.DataFrame(
        {"folder": taken(fold(folders.distinct), pairs % len(folders)), "key": taken(known.keys, pairs // len(folders))}
    )
    wanted = table.select(
        key=pl.when(pl.col("folder") == "").then("key").otherwise(pl.col("folder") + "/" + pl.col("key"))
    )["key"]
    file, rank = known.beside(wanted)
    own = np.where(rank == known.far_rank[pairs // len(folders)], file, NONE)[place]
    is_own = own >= 0
    rows, own = rows[is_own], own[is_own]
    found.file[rows] = own
    found.is_ambiguous[rows] = (asked["mode"].to_numpy()[rows] == Mode.WIKI) & (own < note_count)


def _spelled(found: Found, twins: pl.DataFrame, folders: pl.Series) -> None:
    """Rows that lead to one of several twins lead to the one that is spelled as the link is.

    Of several such, the one in the source's own folder; where that does not decide either, the name is ambiguous.
    """
    met = pl.DataFrame(
        {
            "at": np.arange(len(found.file)),
            "file": found.file,
            "name": taken(found.names, found.at),
            "is_ambiguous": found.is_ambiguous,
            "source": folders,
        }
    ).filter(pl.Series(found.via == Via.EXACT.value))
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
    best = best.unique("at", keep="first", maintain_order=True).select(
        "at", "file", is_ambiguous=pl.col("is_ambiguous") | ~pl.col("is_spelled") | (pl.col("rivals") > 1)
    )
    at = best["at"].to_numpy()
    found.file[at], found.is_ambiguous[at] = best["file"].to_numpy(), best["is_ambiguous"].to_numpy()
