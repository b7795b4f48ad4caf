"""What a name means from anywhere in a vault: the files whose path is it or ends with it, and the notes called so.

The looking up of resolve.py, once for each distinct folded name, over the keys of the catalogue. Where a link stands
and how it is written is not known here.
"""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.names import fold, last_part, slug, without_md
from vaultgraph.graph.texts import NONE, Sorted, Texts, first_of, sorted_texts, taken
from vaultgraph.note.alone import TEXTS, made_of

_DEPTH: Final = TEXTS.str.count_matches("/", literal=True)
_STEM: Final = TEXTS.str.head(-3)


class Via(IntEnum):
    """By which rule beyond Obsidian's a target was found; EXACT is none of them."""

    EXACT = 0
    ALIAS = 1
    TITLE = 2
    SLUG = 3


@dataclass(frozen=True, slots=True)
class Places:
    """Every whole key a file is found under, symlinks included, a row each: ``key``, its last part ``end``, ``depth``
    (folders above), ``path`` String or int64; ``rank`` (0: by its full name, 1: a note without ``.md``, 2: a file
    without extension) and ``file``, the row in the catalogue."""

    key: pl.Series
    end: pl.Series
    path: pl.Series
    depth: Ids
    rank: Ids
    file: Ids


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a vault are looked up in: ``called`` as other_names gives them; ``twins``, files whose paths
    differ only by case or composition: (file, first, path, folder), ``first`` stands for them.

    ``by_end`` and ``by_call``: the places by the last part of their key, and the rows of ``called`` by key, in order;
    None until few names at a time are asked for (``in_order``).
    """

    note_count: int
    file_count: int
    has_aliases: bool
    called: pl.DataFrame
    twins: pl.DataFrame
    places: Places
    by_end: Sorted | None = None
    by_call: Sorted | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """By distinct key: ``exact``, the file with this path, and ``far``, the best file whose path ends with it, -1 for
    none, with their ranks; ``candidates``, how many files of that rank there are, twins and symlinks counted once;
    ``other``, the one note with such an alias, title or slug, and ``how``, by which of them.

    Best: lowest rank, then shortest path, then first path. The rest are the pairs of a key and a place it may mean.
    """

    keys: pl.Series
    exact: Ids
    exact_rank: Ids
    far: Ids
    far_rank: Ids
    candidates: Ids
    other: Ids
    how: Ids
    places: Places
    pairs: tuple[Ids, Ids, Ids]  # key, place, order among the places of the key

    def beside(self, keys: pl.Series) -> tuple[Ids, Ids]:
        """File and rank of each whole path in ``keys``, which end with keys of several candidates; -1 for none."""
        _, rows, order = self.pairs
        rows, first = np.unique(rows, return_index=True)
        wanted = Texts()
        at = wanted.numbers(keys)
        count = len(wanted)
        met = wanted.numbers(self.places.key[rows.astype(np.uint32)])
        is_met = met < count
        best = first_of(met[is_met], order[first[is_met]], count)[at]
        files, ranks = self.places.file[rows[is_met]], self.places.rank[rows[is_met]]
        return np.append(files, NONE)[best], np.append(ranks, NONE)[best]


def names_of(catalogue: Catalogue, called: pl.DataFrame) -> Names:
    """The names of a vault; ``called`` as other_names gives them, empty where they are switched off."""
    return Names(
        note_count=catalogue.note_count,
        file_count=catalogue.files.height,
        has_aliases=catalogue.aliases.height > 0,
        called=called,
        twins=_twins(catalogue),
        places=_places(catalogue),
    )


def in_order(names: Names) -> Names:
    """``names`` of which a few are found without looking at all."""
    if names.by_end is not None:
        return names
    return replace(names, by_end=sorted_texts(names.places.end), by_call=sorted_texts(names.called["key"]))


def look_up(keys: pl.Series, names: Names) -> Known:
    """What each of the distinct ``keys`` means."""
    count = len(keys)
    places = names.places
    depth = made_of(keys, _DEPTH).to_numpy().astype(np.int64)
    key, row = _pairs(keys, last_part(keys), depth, names)
    rank, file = places.rank[row], places.file[row]
    order = _order(key, row, count, places)
    far_at = first_of(key, order, count)
    far_rank = np.append(rank, NONE)[far_at]
    is_whole = np.flatnonzero(places.depth[row] == depth[key])
    exact_at = first_of(key[is_whole], order[is_whole], count)
    exact_at = np.append(is_whole, NONE)[exact_at]
    best = np.flatnonzero(rank == far_rank[key])
    candidates = np.bincount(_distinct(key[best], file[best], names), minlength=count)
    far = np.append(file, NONE)[far_at]
    other, how = _other_matches(keys, far < 0, names)
    exact, exact_rank = np.append(file, NONE)[exact_at], np.append(rank, NONE)[exact_at]
    return Known(keys, exact, exact_rank, far, far_rank, candidates, other, how, places, (key, row, order))


def _twins(catalogue: Catalogue) -> pl.DataFrame:
    files = catalogue.files
    if files["key"].n_unique() == files.height:
        return pl.DataFrame(schema={"file": pl.Int64, "first": pl.Int64, "path": pl.String, "folder": pl.String})
    rows = files["key"].is_duplicated().arg_true().cast(pl.Int64)
    twins = files[rows].select("key", "path", "folder", file=rows)
    return twins.select("file", "path", "folder", first=pl.col("file").min().over("key"))


def _places(catalogue: Catalogue) -> Places:
    files, count = catalogue.files, catalogue.note_count
    depths = made_of(catalogue.folders, pl.when(TEXTS != "").then(_DEPTH + 1).otherwise(0))
    whole = Places(
        key=files["key"],
        end=files["end_key"],
        path=files["path"],
        depth=depths.to_numpy().astype(np.int64)[catalogue.folder_of],
        rank=files["rank"].to_numpy().astype(np.int64),
        file=np.arange(files.height),
    )
    ends = made_of(whole.end.head(count), _STEM)
    parts = [whole, _bare(whole, np.arange(count), files["name_key"].head(count), ends)]
    if catalogue.aliases.height:
        linked = _linked(catalogue)
        at = np.flatnonzero(linked.file < count)
        keys = without_md(linked.key[at])
        parts += [linked, _bare(linked, at, keys, last_part(keys))]
    return Places(
        *(pl.concat([getattr(part, name) for part in parts], rechunk=True) for name in ("key", "end", "path")),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("depth", "rank", "file")),
    )


def _bare(places: Places, notes: Ids, keys: pl.Series, ends: pl.Series) -> Places:
    """The places of notes again, under their ``keys`` without ``.md``."""
    return Places(
        key=keys.alias("key"),
        end=ends.alias("end_key"),
        path=places.path[notes],
        depth=places.depth[notes],
        rank=np.ones(len(keys), dtype=np.int64),
        file=places.file[notes],
    )


def _linked(catalogue: Catalogue) -> Places:
    """The files again, under the paths that symlinks give them."""
    files = catalogue.files.select("path", "rank").with_row_index("file")
    aliases = catalogue.aliases
    parts = [aliases.join(files, left_on="target", right_on="path").select("file", "path", "rank")]
    # row loop: one step for each symlink to a folder, which are few
    for path, target in aliases.iter_rows():
        prefix = f"{target}/" if target else ""  # "" is the vault itself
        inside = files.filter(pl.col("path").str.starts_with(prefix))
        parts.append(inside.with_columns(path=pl.lit(f"{path}/") + pl.col("path").str.slice(len(prefix))))
    linked = pl.concat(parts)
    keys = fold(linked["path"])
    return Places(
        key=keys.alias("key"),
        end=last_part(keys).alias("end_key"),
        path=linked["path"],
        depth=linked["path"].str.count_matches("/", literal=True).to_numpy().astype(np.int64),
        rank=linked["rank"].to_numpy().astype(np.int64),
        file=linked["file"].to_numpy().astype(np.int64),
    )


def _pairs(keys: pl.Series, ends: pl.Series, depth: Ids, names: Names) -> tuple[Ids, Ids]:
    """Every (key, place) where the path of the place ends with the key."""
    places = names.places
    texts = Texts()
    end = texts.numbers(ends)
    count = len(texts)
    # Only places with a last part that is asked for are looked at, and keys with folders are few.
    end_of_near, near = _met(texts, places.end, names.by_end)
    found: list[tuple[Ids, Ids]] = []
    for folders in np.unique(depth).tolist():  # row loop: one step a depth of keys
        asked = np.flatnonzero(depth == folders)
        key_of_end = np.full(count, NONE, dtype=np.int64)
        key_of_end[end[asked]] = asked
        if not folders:
            found.append((key_of_end[end_of_near], near))
            continue
        rows = near[(key_of_end[end_of_near] >= 0) & (places.depth[near] >= folders)]
        tail = TEXTS.str.split("/").list.tail(folders + 1).list.join("/")
        tails = made_of(taken(places.key, rows), tail)
        wanted = Texts()
        wanted.numbers(keys[asked.astype(np.uint32)])
        at = wanted.numbers(tails)
        found.append((np.append(asked, np.full(len(wanted) - len(asked), NONE))[at], rows))
    key, row = (np.concatenate([pair[side] for pair in found] or [depth]) for side in (0, 1))
    return key[key >= 0], row[key >= 0]


def _order(key: Ids, row: Ids, count: int, places: Places) -> Ids:
    """The order, from the best, of the pairs among those of their key."""
    order = np.zeros(len(key), dtype=np.int64)
    is_contested = np.bincount(key, minlength=count)[key] > 1
    if not is_contested.any():
        return order
    rows = np.unique(row[is_contested])
    path = places.path[rows.astype(np.uint32)]
    table = pl.DataFrame({"rank": places.rank[rows], "path": path, "row": rows})
    table = table.with_columns(length=pl.col("path").str.len_chars()).sort("rank", "length", "path")
    place = np.zeros(len(places.file), dtype=np.int64)
    place[table["row"].to_numpy()] = np.arange(1, table.height + 1)
    return place[row]


def _met(asked: Texts, texts: pl.Series, in_order: Sorted | None) -> tuple[Ids, Ids]:
    """The rows of ``texts`` with a text that was ``asked`` for, in any order: its number, and the row."""
    if in_order is not None:
        return in_order.rows_of(asked.distinct)
    count = len(asked)
    numbers = asked.numbers(texts)
    rows = np.flatnonzero((numbers >= 0) & (numbers < count))
    return numbers[rows], rows


def _distinct(key: Ids, file: Ids, names: Names) -> Ids:
    """The key of each candidate, those with the same file once: it may have several places, and twins are one."""
    twins = names.twins
    if not names.has_aliases and not twins.height:
        return key
    stands_for = np.arange(names.file_count)
    stands_for[twins["file"].to_numpy()] = twins["first"].to_numpy()
    return np.unique(key * names.file_count + stands_for[file]) // names.file_count


def _other_matches(keys: pl.Series, is_unknown: npt.NDArray[np.bool_], names: Names) -> tuple[Ids, Ids]:
    """The note with such an alias, title or slug, in this order, for keys that are no path; a name of several is none.

    By key: its file, -1 for none, and the Via.
    """
    other, how = np.full(len(keys), NONE, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    asked, called = np.flatnonzero(is_unknown), names.called
    if not len(asked) or not called.height:
        return other, how
    plain = without_md(keys[asked.astype(np.uint32)])
    texts = Texts()
    meant = {Via.ALIAS: texts.numbers(plain), Via.SLUG: texts.numbers(slug(plain))}
    meant[Via.TITLE] = meant[Via.ALIAS]
    count = len(texts)
    name, rows = _met(texts, called["key"], names.by_call)
    via, file = called["via"].to_numpy()[rows], called["file"].to_numpy()[rows]
    blank = (plain == "").to_numpy()
    for rule in (Via.SLUG, Via.TITLE, Via.ALIAS):
        own = via == rule
        low, high = np.full(count, len(called), dtype=np.int64), np.full(count, NONE, dtype=np.int64)
        np.minimum.at(low, name[own], file[own])
        np.maximum.at(high, name[own], file[own])
        of_key = meant[rule]
        is_single = (low[of_key] == high[of_key]) & ~blank
        other[asked[is_single]], how[asked[is_single]] = low[of_key[is_single]], rule.value
    return other, how
