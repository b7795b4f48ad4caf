"""The snapshot and its report: what one generation of a vault answers from.

Immutable; vault/vault swaps one for the next by a single assignment, so queries in flight keep theirs.
"""

import time
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

import polars as pl

from vaultgraph.cypher.plan_cache import PlanCache
from vaultgraph.files.stamps import Stamps
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import Schema
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile

if TYPE_CHECKING:
    from vaultgraph.profile.guidance import Guidance

Origin = Literal["built", "cache", "refreshed"]


@frozen
class Report:
    """What the last build or refresh found.

    ``labels`` and ``types``: names with counts, most first. ``counts``: dangling_links, missing_attachments and the
    like, also skipped_notes and canvases, which are read beside ``notes``. ``problems``: path, line, code, severity,
    message. ``derived``: how many nodes were made from parts of notes, by kind of part; kinds without any are left out.
    ``indexes``, ``text_indexes`` (label → properties) and ``embed`` (label → property): as declared; ``ignored_keys``:
    of the configuration, without effect in this version. ``skills`` and ``recipes``: the names of the vault's own.
    ``parsed``: files (notes, skipped ones and canvases too) read and parsed for this generation.
    ``phases_ms``: milliseconds by phase. ``cache``: one line about the cache file, None without one.
    """

    files: int
    notes: int
    nodes: int
    relationships: int
    labels: Mapping[str, int]
    types: Mapping[str, int]
    counts: Mapping[str, int]
    derived: Mapping[str, int]
    indexes: Mapping[str, tuple[str, ...]]
    text_indexes: Mapping[str, tuple[str, ...]]
    embed: Mapping[str, str]
    ignored_keys: tuple[str, ...]
    skills: tuple[str, ...]
    recipes: tuple[str, ...]
    problems: pl.DataFrame
    phases_ms: Mapping[str, float]
    origin: Origin
    parsed: int
    cache: str | None


@frozen
class Snapshot:
    """One generation.

    ``guidance``: the skills and recipes the vault carries, None where it has no files of either.
    ``stale`` is None while the snapshot is what the folder says, else "since <UTC time>: <reason>". ``watch``: how
    edits are followed; without events ("poll", "off") it is what the folder said at ``looked_at``.
    """

    generation: int
    graph: Graph
    schema: Schema
    records: RecordTable
    stamps: Stamps
    profile: Profile
    guidance: "Guidance | None"
    report: Report
    built_at: datetime
    stale: str | None = None
    watch: Literal["auto", "poll", "off"] = "auto"
    plans: PlanCache = field(default_factory=PlanCache)

    @property
    def looked_at(self) -> datetime:
        """When the folder was last looked at: every edit before that is in."""
        return datetime.fromtimestamp(self.stamps.taken_ns / 1e9, UTC)

    @property
    def problems(self) -> pl.DataFrame:
        """path, line, code, severity, message; sorted by path and line."""
        return self.report.problems


def behind(snapshot: Snapshot, began: float) -> Snapshot:
    """``snapshot`` while reading hangs or takes long; ``began``: when that began, on the monotonic clock."""
    since = datetime.now(UTC) - timedelta(seconds=time.monotonic() - began)
    return replace(snapshot, stale=f"since {since:%Y-%m-%dT%H:%M:%SZ}: the notes are still being read")


def gone_stale(snapshot: Snapshot, reason: str) -> Snapshot:
    """``snapshot`` saying since when it is not what the folder holds, and why: since the first failure in a row."""
    since = snapshot.stale.split(": ", 1)[0] if snapshot.stale else f"since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return replace(snapshot, stale=f"{since}: {reason}")
