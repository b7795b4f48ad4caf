"""The cache file of a vault: where it lies, loading it, and writing it without ever failing the caller.

A cache is only ever a saved computation. What cannot be read is rebuilt, what cannot be written is said in one line,
and a file of another program is never overwritten.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from vaultgraph import __version__
from vaultgraph.errors import CorruptKglError, KglError, KglVersionError
from vaultgraph.graph.built import Built
from vaultgraph.graph.store import load, save
from vaultgraph.vault.refresh import State

CacheChoice = Literal["default"] | str | os.PathLike[str] | None
DEFAULT_CACHE: Final = ".kglite/graph.kgl"


@dataclass(frozen=True, slots=True)
class CacheFile:
    """``path`` of the cache; ``is_writable`` False after a reason not to write it was found; ``remark`` says it."""

    path: Path
    is_writable: bool = True
    remark: str | None = None


def choose_cache(folder: Path, choice: CacheChoice) -> CacheFile | None:
    """The cache of the vault at ``folder``: None for no cache, "default" for the one inside the vault."""
    if choice is None:
        return None
    return CacheFile(folder / DEFAULT_CACHE if choice == "default" else Path(choice).expanduser().absolute())


def load_cache(cache: CacheFile) -> tuple[State | None, CacheFile]:
    """The state saved in the cache, or None; and the cache with what was learned about it."""
    if not os.path.lexists(cache.path):
        return None, cache
    try:
        stored = load(cache.path)
    except (CorruptKglError, KglVersionError) as error:
        return None, CacheFile(cache.path, remark=f"rebuilt: {error.message}")
    except KglError as error:
        return None, CacheFile(cache.path, is_writable=False, remark=f"not used: {error.message}")
    if stored.version != __version__:
        return None, CacheFile(cache.path, remark=f"rebuilt: written by vaultgraph {stored.version}")
    built = Built(graph=stored.graph, problems=stored.problems, counts=stored.counts)
    return State(stored.records, None, built, stored.inputs_hash), cache


def write_cache(cache: CacheFile, state: State) -> CacheFile:
    """Save ``state``; the returned cache says how it went. Never raises for a file system that refuses."""
    try:
        cache.path.parent.mkdir(parents=True, exist_ok=True)
        save(
            cache.path,
            records=state.records,
            graph=state.built.graph,
            problems=state.built.problems,
            counts=state.built.counts,
            inputs_hash=state.inputs_hash,
            version=__version__,
        )
    except (OSError, KglError) as error:
        reason = error.message if isinstance(error, KglError) else (error.strerror or type(error).__name__)
        return CacheFile(
            cache.path,
            is_writable=False,
            remark=f"not written to {cache.path} ({reason}); the next start builds again. --vault-cache PATH puts it "
            "elsewhere, --vault-cache none goes without",
        )
    return CacheFile(cache.path, remark=f"written to {cache.path}")
