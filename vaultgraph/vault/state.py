"""What a vault knows between two refreshes: the records, the graph, and which files need not be read again.

The value that vault/refresh starts from and ends with, and that vault/cache saves and loads. It decides nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from vaultgraph.files.stamps import STAMPS, Problem, Stamps
from vaultgraph.frozen import frozen
from vaultgraph.graph.built import Built
from vaultgraph.graph.columns import Column
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile
from vaultgraph.vault.guidance_files import Guided


@frozen
class Cached:
    """What a cache says of the folder it was made from: its hash, and STAMPS under which this machine knows notes to
    be as they are in the cache."""

    inputs_hash: bytes
    trusted: pl.DataFrame


@frozen
class State:
    """What a refresh starts from and ends with.

    ``profile``: what ``configuration``, the text of the configuration files by path, says.
    ``cached``: where the records come from a cache and the folder was not looked at yet; ``stamps`` is None then.
    ``doubtful``: paths of notes that are read again, since their stamps do not prove that they still say what
    ``records`` says. ``mtimes``: the node column, None where no node has any. ``unread`` are the problems of files that
    could not be read: each refresh tries those files again. ``guided``: skills and recipes, None when they were not
    looked at yet.
    """

    records: RecordTable
    stamps: Stamps | None
    built: Built
    profile: Profile
    configuration: Mapping[str, str]
    cached: Cached | None = None
    doubtful: frozenset[str] = frozenset()
    mtimes: Column | None = None
    unread: tuple[Problem, ...] = ()
    guided: Guided | None = None

    def has_files_of(self, other: "State") -> bool:
        """Whether sizes and modification times are the same too, so that a snapshot of one is true of the other."""
        return self.stamps is not None and other.stamps is not None and self.stamps.files.equals(other.stamps.files)

    @property
    def trusted(self) -> pl.DataFrame:
        """STAMPS of files that prove what they say."""
        if self.stamps is None:
            return self.cached.trusted if self.cached else STAMPS.to_frame()
        return self.stamps.files.filter(~pl.col("path").is_in(list(self.doubtful)))

    def is_trusted_as(self, other: "State") -> bool:
        """Whether the same stamps are trusted."""
        if self.stamps is not None and other.stamps is not None:
            was, new = self.stamps.files, other.stamps.files
            if was is new or not was["ctime_ns"].equals(new["ctime_ns"]):
                return was is new and self.doubtful == other.doubtful
        known = self.trusted
        if self.stamps is None and not known.height:  # nothing was known on this machine
            return len(other.doubtful) >= other.records.listing.height
        now = other.trusted
        if self.stamps is None:  # a cache knows of notes only
            now = now.join(other.records.listing.select("path"), on="path", how="semi", maintain_order="left")
        return known.equals(now)

    @property
    def inputs_hash(self) -> bytes:
        """As ``inputs_hash_of``."""
        if self.stamps is None:
            return self.cached.inputs_hash if self.cached else b""
        return inputs_hash_of(self.configuration, with_problems(self.stamps, self.unread))


def with_problems(stamps: Stamps, problems: Sequence[Problem]) -> Stamps:
    """The stamps with other problems, of reading, say, added to those of the stat pass."""
    if not problems:
        return stamps
    rows = pl.DataFrame(list(problems), schema=stamps.problems.schema, orient="row")
    return replace(stamps, problems=pl.concat([stamps.problems, rows]).unique(maintain_order=True))


def inputs_hash_of(configuration: Mapping[str, str], stamps: Stamps) -> bytes:
    """16 bytes over everything a graph depends on beside the notes' own content: configuration, file list, links on
    disk, problems, those of reading included. Modification times are left out."""
    digest = hashlib.blake2b(digest_size=16)
    for path, text in configuration.items():
        digest.update(f"{path}\0{len(text)}\0{text}".encode())
    digest.update(stamps.files["size_bytes"].to_numpy().astype("<i8", copy=False).tobytes())
    for texts in (
        stamps.files["path"].to_list(),
        stamps.folders,
        stamps.aliases["path"].to_list(),
        stamps.aliases["target"].to_list(),
        stamps.problems["path"].to_list(),
        ["" if line is None else str(line) for line in stamps.problems["line"].to_list()],
        stamps.problems["message"].to_list(),
    ):
        digest.update(len(texts).to_bytes(8, "little"))
        digest.update("\0".join(texts).encode())
    return digest.digest()
