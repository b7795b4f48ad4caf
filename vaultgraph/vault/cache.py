"""The cache file of a vault: where it lies, loading it, and writing it without ever failing the caller.

A cache is only ever a saved computation. What cannot be read is rebuilt, what cannot be written is said in one line,
and a file of another program is never overwritten.
"""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from polars.exceptions import PanicException

from vaultgraph import __version__
from vaultgraph.durable import one_at_a_time, remove_leftovers
from vaultgraph.errors import CorruptKglError, FileError, KglError, KglVersionError, ProfileError
from vaultgraph.files.root import CACHE_FOLDER, DEFAULT_CACHE, VaultRoot
from vaultgraph.frozen import frozen
from vaultgraph.graph.built import Built
from vaultgraph.graph.store import load_late, save
from vaultgraph.note.records import RecordTable
from vaultgraph.vault.configuration import profile_of
from vaultgraph.vault.stamp_file import load_stamps, lock_path, stamp_path
from vaultgraph.vault.state import Cached, State

CacheChoice = Literal["default"] | str | os.PathLike[str] | None
_ELSEWHERE: Final = "--vault-cache PATH puts it elsewhere, --vault-cache none goes without."
_MAKE_ROOM: Final = "Delete it or move it away to have a cache there;"


@frozen
class CacheFile:
    """``path`` of the cache; ``is_writable`` False where what lies there must be left alone; ``remark`` says why.

    ``is_inside``: it is the default one, in the folder `.kglite` of the vault. ``is_busy``: it was not written because
    another process was writing it; it is to be tried again soon. ``has_failed``: the system refused it, as a full disk
    does; the next save tries again.
    """

    path: Path
    is_inside: bool = False
    is_writable: bool = True
    remark: str | None = None
    is_busy: bool = False
    has_failed: bool = False


@frozen
class CacheFacts:
    """What is in a cache file: who wrote it (``version``), how many ``notes``, how many are ``matching`` the disk."""

    path: Path
    size_bytes: int
    version: str
    notes: int
    matching: int


def choose_cache(folder: Path, choice: CacheChoice) -> CacheFile | None:
    """The cache of the vault at ``folder``: None for no cache, "default" for the one inside the vault."""
    if choice is None:
        return None
    if choice == "default":
        return CacheFile(folder / DEFAULT_CACHE, is_inside=True)
    return CacheFile(Path(choice).expanduser().absolute())


def load_cache(cache: CacheFile, root: VaultRoot) -> tuple[State | None, CacheFile]:
    """The state saved in the cache, or None; and the cache with what was learned about it."""
    try:
        if cache.is_inside:
            root.is_real_folder(CACHE_FOLDER)
        if not os.path.lexists(cache.path):
            return None, cache
        stored = load_late(cache.path)
    except (CorruptKglError, KglVersionError) as error:
        return None, replace(cache, remark=f"rebuilt: {error.message}")
    except (KglError, FileError) as error:
        return None, replace(cache, is_writable=False, remark=f"not used: {error.message} {_MAKE_ROOM} {_ELSEWHERE}")
    except (MemoryError, PanicException) as error:
        return None, replace(cache, remark=f"rebuilt: {cache.path}: damaged ({type(error).__name__} while reading it).")
    if stored.version != __version__:
        return None, replace(cache, remark=f"rebuilt: written by vaultgraph {stored.version}")
    built = Built(graph=stored.graph, problems=stored.problems, counts=stored.counts)
    trusted = load_stamps(stamp_path(root.path), stored.records)
    texts = stored.configuration
    try:
        profile = profile_of({path: text.encode() for path, text in texts.items()})
    except ProfileError as error:
        return None, replace(cache, remark=f"rebuilt: {cache.path}: damaged ({error.message})")
    return State(stored.records, None, built, profile, texts, Cached(stored.inputs_hash, trusted)), cache


def facts_of(cache: CacheFile, records: RecordTable) -> CacheFacts | None:
    """About the file; ``records`` are those of the notes on disk. None where there is none that can be read."""
    try:
        stored, size_bytes = load_late(cache.path), cache.path.stat().st_size
    except (KglError, OSError, MemoryError, PanicException):
        return None
    known, there = stored.records.listing, records.listing
    matching = known.select("path", "hash").join(there, on=["path", "hash"], how="semi").height
    return CacheFacts(cache.path, size_bytes, stored.version, known.height, matching)


def write_cache(
    cache: CacheFile, state: State, root: VaultRoot, pause: Callable[[], object] = lambda: None
) -> CacheFile:
    """Save ``state``; the returned cache says how it went. Never raises for a file system that refuses.

    ``pause`` is called between small steps: it may wait while there is something more urgent.

    A vault folder that is gone is not made again, and the default cache never leaves the vault through a symlink. Of
    all processes with one cache, one writes at a time; the others come back later.
    """
    if not root.exists():
        return replace(cache, remark=f"not written: {root.path} is gone", is_busy=False)
    lock = lock_path(cache.path)
    with nullcontext(True) if lock is None else one_at_a_time(lock) as is_ours:
        if not is_ours:
            return replace(cache, remark="not written: another vaultgraph is writing it", is_busy=True)
        return _write(replace(cache, is_busy=False), state, root, pause)


def _write(cache: CacheFile, state: State, root: VaultRoot, pause: Callable[[], object]) -> CacheFile:
    try:
        if not cache.is_inside:
            cache.path.parent.mkdir(parents=True, exist_ok=True)
        elif not root.is_real_folder(CACHE_FOLDER):
            os.mkdir(CACHE_FOLDER, dir_fd=root.handle)  # by handle: the vault may be moved meanwhile
        remove_leftovers(cache.path.parent)  # a server killed while writing leaves a file as large as the cache
        save(
            cache.path,
            records=state.records,
            graph=state.built.graph,
            problems=state.built.problems,
            counts=state.built.counts,
            inputs_hash=state.inputs_hash,
            configuration=state.configuration,
            version=__version__,
            pause=pause,
        )
    except CorruptKglError as error:  # of the file the state came from; the next query builds anew
        return replace(cache, remark=f"not written: {error.message}")
    except (OSError, KglError, FileError) as error:
        reason = (error.strerror or type(error).__name__) if isinstance(error, OSError) else error.message
        return replace(
            cache,
            has_failed=True,
            remark=f"not written to {cache.path} ({reason}); it is tried again with the next save. {_ELSEWHERE}",
        )
    return replace(cache, has_failed=False, remark=f"written to {cache.path}")
