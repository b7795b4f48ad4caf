"""What this machine knows of a vault: the stamps of notes whose content was hashed, in the user's cache folder.

With it a start from the cache need not read the notes: a note whose path, size and times are those of the last visit
has the content of that visit. It never lies in the vault, since times differ on every machine; without it, or where
it cannot be used, every note is read and hashed.
"""

import hashlib
import logging
import os
import sys
from pathlib import Path
from typing import Final

import polars as pl

from vaultgraph import __version__
from vaultgraph.errors import KglError
from vaultgraph.kgl.arrays import pack_series, unpack_series
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.writer import write_sections
from vaultgraph.note.records import RecordTable

log = logging.getLogger(__name__)

KNOWN: Final = pl.Schema(
    {
        "path": pl.String,
        "size_bytes": pl.Int64,
        "mtime_ns": pl.Int64,
        "ctime_ns": pl.Int64,
        "inode": pl.Int64,
        "hash": pl.Binary,
    }
)
_CONTENT: Final = "vaultgraph.stamps"


def stamp_path(vault: Path) -> Path | None:
    """The stamp file of the vault at ``vault``; None where the user has no cache folder."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    default = {"darwin": home / "Library" / "Caches", "win32": home / "AppData" / "Local"}.get(
        sys.platform, home / ".cache"
    )
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    name = hashlib.blake2b(os.fsencode(vault), digest_size=16).hexdigest()
    return Path(base if base and Path(base).is_absolute() else default) / "vaultgraph" / f"{name}.stamps"


def lock_path(cache: Path) -> Path | None:
    """The file whose lock says who writes the cache at ``cache``; None where the user has no cache folder."""
    stamps = stamp_path(cache)
    return None if stamps is None else stamps.with_suffix(".lock")


def load_stamps(path: Path | None, records: RecordTable) -> pl.DataFrame:
    """Stamps (the columns of KNOWN without hash) of the notes of ``records`` whose content was seen under them.

    Empty where the file is missing, damaged or of another version: it only ever saves work.
    """
    nothing = KNOWN.to_frame().drop("hash")
    if path is None:
        return nothing
    try:
        file = open_kgl(path)
        rows = file.meta.get("rows")
        if file.meta.get("content") != _CONTENT or file.meta.get("version") != __version__ or not isinstance(rows, int):
            return nothing
        known = pl.DataFrame([unpack_series(file, name, dtype, rows).alias(name) for name, dtype in KNOWN.items()])
    except (KglError, OSError) as error:
        log.debug("the stamps of the last visit are not used: %s", error)
        return nothing
    there = records.listing.select("path", "hash")
    if not known.select("path", "hash").equals(there):
        known = known.join(there, on=["path", "hash"], how="semi", maintain_order="left")
    return known.drop("hash")


def save_stamps(path: Path | None, trusted: pl.DataFrame, records: RecordTable) -> None:
    """Keep ``trusted`` stamps with the content hashes of ``records``. A file system that refuses is no error."""
    if path is None:
        return
    known = trusted.join(records.listing.select("path", "hash"), on="path", how="inner", maintain_order="left")
    sections = (section for series in known.select(KNOWN.names()) for section in pack_series(series.name, series))
    meta = {"content": _CONTENT, "version": __version__, "rows": known.height}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_sections(path, sections, meta)
    except (KglError, OSError) as error:
        log.debug("the stamps of this visit are not kept: %s", error)
