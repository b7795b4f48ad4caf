"""What a build found wrong or missing, as rows: path, line, code, severity, message.

Collects the findings of the other modules; each function here words one code. Nothing in it decides anything.
"""

from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.folders import Folders
from vaultgraph.graph.known import Via
from vaultgraph.graph.links import Destination, LinkRows

PROBLEMS: Final = pl.Schema(
    {"path": pl.String, "line": pl.Int32, "code": pl.String, "severity": pl.String, "message": pl.String}
)

_WORDED: Final = ("file", "line", "name")


def collected(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """All problem rows as one frame, sorted by path, line, code and message."""
    found = [frame for frame in frames if frame.height]
    if not found:
        return PROBLEMS.to_frame()
    columns = [pl.col(name).cast(dtype) for name, dtype in PROBLEMS.items()]
    every = pl.concat([frame if frame.schema == PROBLEMS else frame.select(columns) for frame in found])
    return every.sort("path", "line", "code", "message", nulls_last=False)


def unresolved(links: LinkRows, paths: pl.Series) -> list[pl.DataFrame]:
    """Links to notes and files that are not there, and links out of the vault; ``paths`` by file row."""
    concepts = links.towards(Destination.CONCEPT, only=_WORDED)
    files = links.towards(Destination.MISSING, only=_WORDED)
    outside = links.towards(Destination.OUTSIDE, only=_WORDED)
    return [
        _worded(concepts, paths, "unresolved-link", "info", pl.format("No note is named '{}'.", "name")),
        _worded(files, paths, "missing-attachment", "info", pl.format("No file is named '{}'.", "name")),
        _worded(
            outside,
            paths,
            "outside-vault",
            "error",
            pl.format("The link target '{}' lies outside the vault. Point it at a file inside, or remove it.", "name"),
        ),
    ]


def lacking_anchors(links: pl.DataFrame, paths: pl.Series) -> pl.DataFrame:
    """Links whose target note lacks the heading or block they name."""
    if not links.height:
        return PROBLEMS.to_frame()
    rows = links.with_columns(reached=paths.gather(links["target"]))
    is_block = pl.col("anchor").str.starts_with("^")
    kind = pl.when(is_block).then(pl.lit("block")).otherwise(pl.lit("heading"))
    message = pl.format("'{}' has no {} '{}'.", "reached", kind, "anchor")
    return _worded(rows, paths, "missing-anchor", "info", message)


def second_folder_notes(folders: Folders) -> pl.DataFrame:
    """Notes named as their folder, where a note beside the folder already is its folder note."""
    if not folders.beaten.height:
        return PROBLEMS.to_frame()
    message = pl.format("'{}' already is the folder note of this folder; this one is an ordinary note.", "winner")
    return folders.beaten.select("path", *_fixed("second-folder-note", "info"), message=message).with_columns(
        line=pl.lit(None, pl.Int32)
    )


def refused_types(refused: pl.DataFrame, paths: pl.Series) -> pl.DataFrame:
    """Cells that are not what `types:` declares."""
    message = pl.format("{}.{} is declared {}, but '{}' is not; left as written.", "label", "key", "type", "text")
    return _worded(refused, paths, "type-mismatch", "warning", message)


def shadowed_keys(rows: pl.DataFrame, paths: pl.Series) -> pl.DataFrame:
    """Frontmatter keys that a built-in property has; ``rows``: file, line, key."""
    message = pl.format("'{}' is a built-in property; the value is kept as 'frontmatter.{}'.", "key", "key")
    return _worded(rows, paths, "shadowed-property", "info", message)


def stated_problems(problems: pl.DataFrame, catalogue_paths: pl.Series) -> pl.DataFrame:
    """The records' own problems; ``catalogue_paths``: path by row of the records' notes."""
    if not problems.height:
        return PROBLEMS.to_frame()
    return problems.with_columns(path=catalogue_paths.gather(problems["note"]))


def _worded(rows: pl.DataFrame, paths: pl.Series, code: str, severity: str, message: pl.Expr) -> pl.DataFrame:
    if not rows.height:
        return PROBLEMS.to_frame()
    # In one piece each: of columns in several pieces `format` may read beyond the end of one.
    return (
        rows.with_columns(path=paths.gather(rows["file"]))
        .rechunk()
        .select("path", "line", *_fixed(code, severity), message=message)
    )


def _fixed(code: str, severity: str) -> list[pl.Expr]:
    return [pl.lit(code).alias("code"), pl.lit(severity).alias("severity")]


def link_counts(links: LinkRows, catalogue: Catalogue, folders: Folders) -> dict[str, int]:
    """How many links were not plain: counted by link as written, not by relationship."""
    destination, via = links.rows["destination"].to_numpy(), links.rows["via"].to_numpy()
    is_ambiguous = links.rows["is_ambiguous"].to_numpy()
    kinds = np.bincount(destination, minlength=len(Destination)).tolist()
    ambiguous = np.bincount(destination[is_ambiguous], minlength=len(Destination)).tolist()
    ways = np.bincount(via, minlength=len(Via)).tolist()
    return {
        "notes": catalogue.note_count,
        "files": catalogue.files.height,
        "links": links.rows.height,
        "dangling_links": kinds[Destination.CONCEPT],
        "missing_attachments": kinds[Destination.MISSING],
        "outside_links": kinds[Destination.OUTSIDE],
        "ambiguous_links": ambiguous[Destination.NOTE],
        "ambiguous_attachments": ambiguous[Destination.FILE],
        "alias_links": ways[Via.ALIAS],
        "title_links": ways[Via.TITLE],
        "slug_links": ways[Via.SLUG],
        "folder_notes": folders.count,
    }
